package simnic

import (
	"testing"

	"rdmasim/sim"
	"rdmasim/verbs"
	"rdmasim/verbs/verbstest"

	"github.com/stretchr/testify/require"
)

// world makes a lab one of verbstest.
type world struct{ *lab }

func (w world) Devices() (list []verbs.Device) {
	for _, n := range w.nics {
		d, err := n.Device()
		require.NoError(w.t, err)
		list = append(list, d)
	}
	return list
}

func (w world) Sleep(d sim.Duration) { w.sleep(d) }

func (w world) Manager(c verbs.Context) verbs.ConnectionManager { return nil }

// provider is the simulated NIC as verbstest wants it.
func provider(change func(*Config)) verbstest.Provider {
	return verbstest.Provider{Port: 1, AckTimeout: 8, Patience: 20 * sim.Millisecond, Run: func(t *testing.T, program func(t *testing.T, w verbstest.World)) {
		inLab(t, 2, change, func(l *lab) { program(t, world{l}) })
	}}
}

// The simulated NIC keeps the contract.
func TestContract(t *testing.T) { verbstest.Test(t, provider(nil)) }

// With selective repeat it keeps it too.
func TestContractSelectiveRepeat(t *testing.T) {
	verbstest.Test(t, provider(func(c *Config) {
		c.IRN = &IRN{BDP: 64 << 10, RTOLow: IRNTimeoutLow, RTOHigh: IRNTimeoutHigh, Few: IRNFew}
	}))
}
