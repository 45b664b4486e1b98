package hardware

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim/trace"
)

// offloadedWorld is a scenario whose two hosts are devices that build their
// packets in hardware.
func offloadedWorld(t *testing.T, faults string) *world {
	spec, err := scenarios.Parse("x.yaml", []byte("name: x\nduration: 1ms\ntopology: {star: {hosts: 2}}\ntraffic: [{incast: {senders: 1, receiver: h0, message: 1KB}}]\nfaults: ["+faults+"]\n"))
	require.NoError(t, err)
	traffic, err := scenarios.PlanTraffic(spec)
	require.NoError(t, err)
	end := func(name, dev string) *endpoint {
		return &endpoint{info: netem.Device{Name: name, Netdev: dev, Driver: "mlx5_core"}}
	}
	return &world{spec: spec, traffic: traffic, names: trace.NewNames(), ends: []*endpoint{end("mlx5_0", "eth1"), end("mlx5_1", "eth2")}, endOf: []int{0, 1}}
}

// TestOffloadedIsRefused: nothing is injected into a NIC that bypasses the
// kernel's queues, and the sentence says what helps. Late receives need no queue.
func TestOffloadedIsRefused(t *testing.T) {
	for _, fault := range []string{`loss: {link: "*", probability: 1%}`, `udp_blocked: {link: "*"}`, `delay: {link: "*", delay: 1us}`} {
		w := offloadedWorld(t, fault)
		require.NoError(t, w.inject())
		err := w.refuse(nil)
		require.ErrorIs(t, err, netem.ErrNotSupported)
		require.ErrorContains(t, err, "mlx5_0 (mlx5_core) builds its packets in hardware and bypasses the kernel's queues, so that nothing would be injected")
		require.ErrorContains(t, err, "rdmasim hw bridge")
	}
	w := offloadedWorld(t, `late_receives: {host: h0, delay: 1us}`)
	require.NoError(t, w.inject())
	require.NoError(t, w.refuse(nil))
}

// TestSameDeviceIsRefused: traffic within a device would be looped back inside.
func TestSameDeviceIsRefused(t *testing.T) {
	w := offloadedWorld(t, "")
	w.endOf = []int{0, 0}
	require.ErrorContains(t, w.checkPath(0, 1), "looped back inside")
}

// TestBridgePlaces: what enters at one port of a bridge leaves at the other.
func TestBridgePlaces(t *testing.T) {
	for _, c := range []struct {
		fault, wantQueue, wantRule string
	}{
		{`{link: "h0>sw0", `, "eth2", "eth1"},
		{`{link: "sw0>h0", `, "eth1", "eth2"},
		{`{link: "h1>sw0", `, "eth1", "eth2"},
	} {
		w := offloadedWorld(t, "loss: "+c.fault+"probability: 1%}, loss: "+c.fault+"every: 10}")
		w.ports, w.ends = []string{"eth1", "eth2"}, nil
		require.NoError(t, w.inject())
		require.Len(t, w.faults[0].sites, 1)
		require.Equal(t, c.wantQueue, w.faults[0].sites[0].dev)
		require.Equal(t, c.wantRule, w.faults[1].sites[0].dev)
	}
	w := offloadedWorld(t, `link_down: {link: h0-sw0}`)
	w.ports, w.ends = []string{"eth1", "eth2"}, nil
	require.NoError(t, w.inject())
	require.Len(t, w.faults[0].sites, 1)
	require.Equal(t, "eth1", w.faults[0].sites[0].dev)
}

// TestOthersInterfaceIsRefused: neither the link nor the queue of an interface
// that others need is touched; rules for RoCE packets at its ingress may be.
func TestOthersInterfaceIsRefused(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "proc/net"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc/net/route"), []byte("Iface Destination Gateway Flags RefCnt Use Metric Mask\neth1 00000000 0100000A 0003 0 0 0 00000000\n"), 0o644))
	for fault, refused := range map[string]bool{
		`loss: {link: "*", probability: 1%}`:    true,
		`delay: {link: "*", delay: 1us}`:        true,
		`rate: {link: "*", rate: 1Gbps}`:        true,
		`link_down: {link: "*", from: 1us}`:     true,
		`udp_blocked: {link: "*"}`:              false,
		`loss: {link: "*", every: 100}`:         false,
		`late_receives: {host: h0, delay: 1us}`: false,
	} {
		w := offloadedWorld(t, fault)
		require.NoError(t, w.inject(), fault)
		why := map[string]string{}
		for _, in := range w.faults {
			for _, s := range in.sites {
				why[s.dev] = s.refused(root)
			}
		}
		require.Equal(t, refused, why["eth1"] == "the default route leads over it", "%s: %v", fault, why)
		require.Empty(t, why["eth2"], fault)
	}
}
