//go:build linux && (amd64 || arm64)

package ibv

import (
	"os"
	"testing"
	"time"

	"rdmasim/sim"
	"rdmasim/verbs"
	"rdmasim/verbs/verbstest"
)

// hardware is the devices of this host as verbstest wants them.
type hardware struct{ devices []verbs.Device }

func (h hardware) Devices() []verbs.Device                       { return h.devices }
func (h hardware) Sleep(d sim.Duration)                          { time.Sleep(time.Duration(d / sim.Nanosecond)) }
func (h hardware) Manager(verbs.Context) verbs.ConnectionManager { return nil }

// deviations are those of Soft-RoCE, which names its parent in sysfs; other
// devices have to keep all of the contract.
func deviations(all []verbs.Device) []verbstest.Deviation {
	for _, d := range all {
		if _, err := os.Stat("/sys/class/infiniband/" + d.Name() + "/parent"); err != nil {
			return nil
		}
	}
	return []verbstest.Deviation{verbstest.LongerQueues, verbstest.UnpolledPlaces, verbstest.OperationErrors}
}

// TestHardwareContract: real queue pairs keep the contract that the simulated
// NIC keeps. Connection management is not part of this provider.
func TestHardwareContract(t *testing.T) {
	all, err := Devices()
	if err != nil || len(all) < 2 {
		t.Skipf("skipped: two RDMA devices are needed, there are %d (%v)", len(all), err)
	}
	verbstest.Test(t, verbstest.Provider{Port: 1, GIDIndex: rocev2, AckTimeout: 14, Patience: 20 * sim.Second, Deviations: deviations(all),
		Run: func(t *testing.T, program func(*testing.T, verbstest.World)) { program(t, hardware{all}) }})
}
