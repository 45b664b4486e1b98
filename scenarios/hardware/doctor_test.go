package hardware

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/netem"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// TestDoctorMachines: what machines have in common is one finding, what differs is
// compared, and a machine from which nothing can be had is a finding too.
func TestDoctorMachines(t *testing.T) {
	dir := t.TempDir()
	answer := func(kernel string) string {
		return `while read -r line; do case $line in
*doctor*) say '{"kind":"doctor","doctor":{"kernel":"` + kernel + `","findings":[{"id":"memlock","severity":"ok","where":"process","what":"may pin"}],"devices":[{"name":"mlx5_0","driver":"mlx5_core","firmware":"22.` + kernel + `","board":"MT_1","interface":"eth1","mtu_bytes":1500,"why":"port 1 is down"}]}}';;
*bye*) exit 0;;
esac; done
`
	}
	fake(t, dir, "n1", answer("6.1"))
	fake(t, dir, "n2", answer("6.1"))
	fake(t, dir, "n3", answer("6.8"))
	fake(t, dir, "rude", "read -r line; say '{\"kind\":\"failed\",\"err\":\"no sysfs\"}'; cat > /dev/null\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gone"), []byte("#!/bin/sh\necho no route to host >&2; exit 255\n"), 0o755))
	x, err := Doctor(context.Background(), []string{"n1", "gone", "n2", "rude", "n3"}, DoctorOptions{Profile: netem.Lossy, Via: dir + "/{}", Version: "v1"})
	require.NoError(t, err)
	find := func(id, where string) string {
		for _, f := range x.Findings {
			if f.ID == id && f.Where == where {
				return f.What
			}
		}
		t.Fatalf("no finding %s about %s among %+v", id, where, x.Findings)
		return ""
	}
	require.Equal(t, "may pin", find("memlock", "n1, n2, n3: process"))
	require.Equal(t, "no agent answers (exit status 255): no route to host", find("machine", "gone"))
	require.Equal(t, "no sysfs", find("machine", "rude"))
	require.Equal(t, "kernel: 6.1 on n1, n2; 6.8 on n3", find("versions-differ", "machines"))
	require.Equal(t, "takes no part in probes: port 1 is down", find("reach", "n2/mlx5_0"))
	require.Equal(t, []string{"n1/mlx5_0", "n2/mlx5_0", "n3/mlx5_0"}, x.Devices)
	require.Equal(t, []Reach{ReachUnknown, ReachSelf, ReachUnknown}, x.Reach[1])
}

// TestCompare: a finding for each thing that differs, among devices of one kind
// where only those can be compared; none where all are the same.
func TestCompare(t *testing.T) {
	on, off := true, false
	make1 := func(name string, change func(*wireDevice)) *device {
		d := &device{name: name, wireDevice: wireDevice{Module: "5.8", Board: "MT_1", MTU: verbs.MTU4096,
			DeviceState: trace.DeviceState{Driver: "mlx5_core", Firmware: "22.1", MTU: 9000, PFC: []int{3}, TrustDSCP: &on, Congestion: map[string]int64{"rp_gd": 11}}}}
		change(&d.wireDevice)
		return d
	}
	same := func(*wireDevice) {}
	for want, change := range map[string]func(*wireDevice){
		"": same,
		"MTU of the interfaces: 1500 on b; 9000 on a":             func(d *wireDevice) { d.DeviceState.MTU = 1500 },
		"path MTU of the ports: 1024 on b; 4096 on a":             func(d *wireDevice) { d.MTU = verbs.MTU1024 },
		"priorities with PFC: [3] on a; [4] on b":                 func(d *wireDevice) { d.PFC = []int{4} },
		"trust in the DSCP: off on b; on on a":                    func(d *wireDevice) { d.TrustDSCP = &off },
		"module mlx5_core: 23.1 on b; 5.8 on a":                   func(d *wireDevice) { d.Module = "23.1" },
		"firmware of board MT_1: 22.1 on a; 22.2 on b":            func(d *wireDevice) { d.Firmware = "22.2" },
		"congestion control of mlx5_core, rp_gd: 11 on a; 7 on b": func(d *wireDevice) { d.Congestion = map[string]int64{"rp_gd": 7} },
		"driver: bnxt_re on b; mlx5_core on a":                    func(d *wireDevice) { d.Driver, d.Board, d.Module = "bnxt_re", "", "230" },
	} {
		x := &Examined{}
		x.compare([]*device{make1("a", same), make1("b", change)}, map[string]string{"a": "6.1", "b": "6.1"})
		if want == "" {
			require.Empty(t, x.Findings)
			continue
		}
		require.Len(t, x.Findings, 1, want)
		require.Equal(t, want, x.Findings[0].What)
	}
}

// TestJudge: one finding per device that is not reached, and one per device that
// only short messages reach.
func TestJudge(t *testing.T) {
	x := &Examined{Reach: [][]Reach{
		{ReachSelf, ReachFull, ReachNone},
		{ReachFull, ReachSelf, ReachNone},
		{ReachFull, ReachShort, ReachSelf},
	}}
	d := func(name string, mtu verbs.MTU) *device {
		return &device{name: name, wireDevice: wireDevice{MTU: mtu}, errors: map[int]string{}}
	}
	devices := []*device{d("a/0", verbs.MTU4096), d("b/0", verbs.MTU4096), d("c/0", verbs.MTU1024)}
	devices[1].errors[2] = "no way to its address"
	x.judge(devices)
	require.Len(t, x.Findings, 2)
	require.Equal(t, "b/0", x.Findings[0].Where)
	require.Equal(t, "messages of 64 B arrive from c/0, those of 1024 B do not", x.Findings[0].What)
	require.Equal(t, "no RDMA message arrives from a/0, b/0 (b/0: no way to its address)", x.Findings[1].What)
	require.Equal(t, "a, b, c, d and 2 others", names([]string{"a", "b", "c", "d", "e", "f"}))
}
