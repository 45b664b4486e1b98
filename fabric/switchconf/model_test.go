package switchconf_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
	"rdmasim/sim"
)

func TestOriginSaysWhatItKnows(t *testing.T) {
	for _, c := range []struct {
		origin switchconf.Origin
		want   string
	}{
		{switchconf.Origin{}, "missing"},
		{switchconf.Origin{Kind: switchconf.Defaulted, Why: "SONiC YANG"}, "SONiC YANG"},
		{switchconf.Origin{Kind: switchconf.Given, Path: "ecn.3"}, "ecn.3"},
		{switchconf.Origin{Kind: switchconf.Given, File: "a.json", Line: 3, Column: 5, Path: "PORT.Ethernet0"}, "a.json:3:5: PORT.Ethernet0"},
	} {
		assert.Equal(t, c.want, c.origin.String())
	}
}

func TestValueOr(t *testing.T) {
	var v switchconf.Value[int]
	assert.Equal(t, 7, v.Or(7))
	assert.Equal(t, 0, switchconf.Of(0).Or(7), "a zero that was given is no gap")
	assert.True(t, switchconf.Default(1, "x").IsSet())
	assert.False(t, switchconf.Default(1, "x").IsGiven())
}

func TestAlphaIsAPowerOfTwo(t *testing.T) {
	for n, want := range map[int]sim.Ratio{-8: 1.0 / 256, -3: 0.125, 0: 1, 7: 128} {
		p := switchconf.Profile{DynamicTh: switchconf.Of(n)}
		assert.Equal(t, want, p.Alpha(), "n = %d", n)
	}
	assert.Zero(t, (&switchconf.Profile{}).Alpha(), "no dynamic threshold")
}

func TestECNModesMarkTheColoursInTheirNames(t *testing.T) {
	colours := func(m switchconf.ECNMode) (s string) {
		for c := switchconf.Green; c <= switchconf.Red; c++ {
			if m.Marks(c) {
				s += c.String()[:1]
			}
		}
		return s
	}
	for m, want := range map[switchconf.ECNMode]string{
		switchconf.ECNNone: "", switchconf.ECNGreen: "g", switchconf.ECNYellow: "y", switchconf.ECNRed: "r",
		switchconf.ECNGreenYellow: "gy", switchconf.ECNGreenRed: "gr", switchconf.ECNYellowRed: "yr", switchconf.ECNAll: "gyr",
	} {
		assert.Equal(t, want, colours(m), "%s", m)
	}
}

func TestIdentifyASIC(t *testing.T) {
	for s, want := range map[string]string{
		"x86_64-arista_7060_cx32s": "th", "Arista-7060CX-32S": "th", "Arista-7060X6-64PE-256x200G": "th5",
		"Arista-7260CX3-D108C8": "th2", "ACS-MSN2700": "spc1", "Mellanox-SN4600C-D48C40": "spc3", "x86_64-mlnx_msn4600c-r0": "spc3",
		"x86_64-nvidia_sn5600-r0": "spc4", "Force10-S6100": "th", "DellEMC-Z9332f-M-O16C64": "th3", "SPC4": "spc4",
	} {
		a := switchconf.IdentifyASIC(s)
		require.NotNil(t, a, s)
		assert.Equal(t, want, a.Name, s)
	}
	assert.Nil(t, switchconf.IdentifyASIC("x86_64-kvm_x86_64-r0"))
}

// No string tells two chips.
func TestASICNamesAreTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for _, a := range switchconf.ASICs {
		assert.NotContains(t, seen, a.Name)
		for _, n := range append(a.Names, a.Name) {
			assert.NotContains(t, seen, n, "%s and %s", seen[n], a.Name)
			seen[n] = a.Name
		}
		assert.Positive(t, a.Cell, a.Name)
	}
}
