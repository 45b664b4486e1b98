package switchconf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
)

// chassis is a piece of a line card's configuration: two ports of its own, and
// the queues toward those of two line cards.
func chassis(more string) switchconf.File {
	var queues []string
	for _, card := range []string{"lc1|Asic0", "lc2|Asic0"} {
		for _, port := range []string{"Ethernet0", "Ethernet8"} {
			queues = append(queues, fmt.Sprintf(`"%s|%s|3": {"wred_profile": "W%s"}`, card, port, card[2:3]))
		}
	}
	return text(`{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}, "Ethernet8": {"pfc_enable": "3"}}, ` + more + `
		"WRED_PROFILE": {"W1": {"ecn": "ecn_all"}, "W2": {"ecn": "ecn_none"}},
		"QUEUE": {` + strings.Join(queues, ",\n") + `}}`)
}

// The queues toward a line card's own ports are those of its ports; those
// toward others are left out, with a word about it.
func TestLineCard(t *testing.T) {
	for metadata, own := range map[string]string{"": "1", `"DEVICE_METADATA": {"localhost": {"hostname": "LC2"}},`: "2", `"DEVICE_METADATA": {"localhost": {"hostname": "other"}},`: "1"} {
		im := read(t, chassis(metadata))
		require.Len(t, im.Switch.Ports, 2, metadata)
		for _, name := range []string{"Ethernet0", "Ethernet8"} {
			p := im.Switch.Port(name)
			require.NotNil(t, p)
			assert.Equal(t, "W"+own, p.Queue(3).WRED.V)
			assert.Equal(t, []int{3}, p.PFCEnable.V)
		}
		left := 0
		for _, f := range im.Fields {
			if f.Why != "" {
				left++
				assert.Contains(t, f.Why, "another line card than lc"+own+"|Asic0")
			}
		}
		assert.Equal(t, 2, left)
	}
	// Under names of the chassis alone, each is a port.
	im := read(t, text(`{"WRED_PROFILE": {"W": {"ecn": "ecn_all"}}, "QUEUE": {"lc1|Asic0|Ethernet0|3": {"wred_profile": "W"}, "lc2|Asic0|Ethernet0|3": {"wred_profile": "W"}}}`))
	require.Len(t, im.Switch.Ports, 2)
	assert.Equal(t, "lc1|Asic0|Ethernet0", im.Switch.Ports[0].Name)
	// A port that PORT does not have, and one that binds its queue itself.
	im = read(t, text(`{"PORT": {"Ethernet0": {"speed": "100000"}}, "WRED_PROFILE": {"W": {"ecn": "ecn_all"}, "V": {"ecn": "ecn_all"}}, "SCHEDULER": {"s": {"type": "STRICT"}},
		"QUEUE": {"Ethernet0|3": {"wred_profile": "V"}, "lc1|Asic0|Ethernet0|3": {"wred_profile": "W", "scheduler": "s"}, "lc1|Asic0|Ethernet4|3": {"wred_profile": "W"}}}`))
	require.Len(t, im.Switch.Ports, 1)
	assert.Equal(t, "V", im.Switch.Ports[0].Queue(3).WRED.V)
	assert.Equal(t, "s", im.Switch.Ports[0].Queue(3).Scheduler.V)
}

// What people paste and JSON does not have gets a word of its own.
func TestNotQuiteJSON(t *testing.T) {
	for in, want := range map[string]string{
		"// x\n{}":             "x.json:1:1: a comment, which JSON does not have",
		"{\"PORT\": {} # x\n}": "a comment",
		"/* x */ {}":           "a comment",
		"{\"PORT\": {},\n}":    "x.json:2:1: '}' after a comma",
		`{"PORT": {"Ethernet0": {"lanes": [1,]}}}`: "']' after a comma",
		"\xff\xfe{\x00}\x00":                       "UTF-16",
		`{"QUEUE": {"Ethernet0-Ethernet8|3": {}}}`: "a range of ports: want each port of it, such as Ethernet0,Ethernet8",
		`{"BUFFER_POOL": {"` + strings.Repeat("p", 201) + `": {"type": "both", "mode": "static", "size": "1"}}}`: "want a name of up to 200 letters",
	} {
		_, err := switchconf.ReadSONiC([]switchconf.File{text(in)}, switchconf.Options{})
		assert.ErrorContains(t, err, want)
	}
	for _, name := range []string{"Ethernet-BP0", "Ethernet-Rec0", "lc-1|Asic0|Ethernet0"} {
		read(t, text(`{"QUEUE": {"`+name+`|3": {}}}`))
	}
}
