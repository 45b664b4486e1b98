package netem

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeNUMA makes a host with a NIC on node 1 and Soft-RoCE on its interface.
func fakeNUMA(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(text+"\n"), 0o644))
	}
	return root
}

const nicDir, netDir = "sys/class/infiniband/mlx5_0/device/", "sys/class/net/eth0/device/"

// TestNear: the node of a NIC and its processors, where they stand in /sys and
// where they do not.
func TestNear(t *testing.T) {
	status := "Name:\tx\nCpus_allowed_list:\t0-5"
	nic, soft := &Device{Name: "mlx5_0"}, &Device{Name: "rxe0", Netdev: "eth0", Software: true}
	for name, c := range map[string]struct {
		dev    *Device
		files  map[string]string
		want   Near
		usable []int
		event  []int // where a thread that sleeps runs
		spin   []int // and one that spins, as the fourth program
	}{
		"local_cpulist": {nic, map[string]string{nicDir + "numa_node": "1", nicDir + "local_cpulist": "4-7", "proc/self/status": status},
			Near{1, []int{4, 5, 6, 7}, []int{0, 1, 2, 3, 4, 5}}, []int{4, 5}, []int{4, 5}, []int{5}},
		"the node's cpulist": {nic, map[string]string{nicDir + "numa_node": "1", "sys/devices/system/node/node1/cpulist": "1,3", "proc/self/status": status},
			Near{1, []int{1, 3}, []int{0, 1, 2, 3, 4, 5}}, []int{1, 3}, []int{1, 3}, []int{3}},
		"one node": {nic, map[string]string{nicDir + "numa_node": "-1", nicDir + "local_cpulist": "0-7", "proc/self/status": status},
			Near{-1, nil, []int{0, 1, 2, 3, 4, 5}}, nil, nil, []int{3}},
		"out of reach": {nic, map[string]string{nicDir + "numa_node": "0", nicDir + "local_cpulist": "8-9", "proc/self/status": status},
			Near{0, []int{8, 9}, []int{0, 1, 2, 3, 4, 5}}, nil, nil, []int{3}},
		"software on a NIC": {soft, map[string]string{netDir + "numa_node": "0", netDir + "local_cpulist": "2", "proc/self/status": status},
			Near{0, []int{2}, []int{0, 1, 2, 3, 4, 5}}, []int{2}, []int{2}, []int{2}},
		"software on nothing": {soft, nil, Near{-1, nil, nil}, nil, nil, nil},
		"nonsense":            {nic, map[string]string{nicDir + "numa_node": "x", nicDir + "local_cpulist": "y"}, Near{-1, nil, nil}, nil, nil, nil},
	} {
		n := ReadNear(fakeNUMA(t, c.files), c.dev)
		require.Equal(t, c.want, n, name)
		require.Equal(t, c.usable, n.Usable(), name)
		require.Equal(t, c.event, PollerCPUs(&n, false, 3), name)
		require.Equal(t, c.spin, PollerCPUs(&n, true, 3), name)
	}
}

func TestCPUList(t *testing.T) {
	require.Equal(t, []int{0, 1, 2, 8}, cpuList("0-2,8"))
	require.Equal(t, "0-2,8", ListCPUs([]int{0, 1, 2, 8}))
	require.Empty(t, ListCPUs(nil))
	for _, bad := range []string{"", "x", "3-1", "-1", "0-99999999"} {
		require.Empty(t, cpuList(bad), bad)
	}
}

func FuzzCPUList(f *testing.F) {
	for _, s := range []string{"0-3,8", "7", "0-65535,0-65535", "1,1,1", "3-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := cpuList(s)
		if len(list) > maxCPU {
			t.Fatalf("%d processors", len(list))
		}
		require.Equal(t, list, cpuList(ListCPUs(list)))
	})
}

// TestPinThread: a thread gets one of the processors of this process, and then
// again all that it had.
func TestPinThread(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: threads are pinned on Linux only")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	allowed := func() []int {
		b, err := os.ReadFile("/proc/thread-self/status")
		require.NoError(t, err)
		return cpuList(statusField(fakeNUMA(t, map[string]string{"proc/self/status": string(b)}), "Cpus_allowed_list"))
	}
	before := allowed()
	require.NotEmpty(t, before)
	one := before[len(before)-1:]
	restore, err := PinThread(one)
	require.NoError(t, err)
	require.Equal(t, one, allowed())
	restore()
	require.Equal(t, before, allowed())
	_, err = PinThread(nil)
	require.Error(t, err)
	_, err = PinThread([]int{maxCPU})
	require.ErrorContains(t, err, "processor 65536")
}
