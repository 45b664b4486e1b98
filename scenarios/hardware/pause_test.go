package hardware

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
	"rdmasim/fabric/netem"
	"rdmasim/sim"
)

// TestPauseIsRefused: without the flag, unbounded, and on interfaces that others
// depend on. Nothing is sent and nothing is locked.
func TestPauseIsRefused(t *testing.T) {
	root := t.TempDir()
	file := func(name, text string) {
		p := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(text+"\n"), 0o600))
	}
	for dev, kind := range map[string]string{"eth0": "1", "eth1": "1", "eth2": "1", "eth3": "1", "ib0": "32", "br0": "1", "down0": "1"} {
		file("sys/class/net/"+dev+"/type", kind)
		file("sys/class/net/"+dev+"/flags", "0x1003")
	}
	file("sys/class/net/down0/flags", "0x1002")
	file("sys/class/net/lo/type", "772")
	file("sys/class/net/lo/flags", "0x9")
	file("sys/class/net/eth1/master/flags", "0x1003")
	file("sys/class/net/br0/bridge/stp_state", "0")
	file("sys/class/net/eth2/upper_eth2.5/flags", "0x1003")
	file("proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth0\t00000000\t010AA8C0\t0003\t0\t0\t0\t00000000\neth2.5\t00000000\t010AA8C0\t0003\t0\t0\t0\t00000000")
	good := PauseOptions{Interface: "eth3", Priorities: []int{3}, Quanta: 100, For: time.Second, Own: true}
	for want, change := range map[string]func(*PauseOptions){
		"--i-own-this-fabric":                      func(o *PauseOptions) { o.Own = false },
		"--for 0s: want a time up to 1m":           func(o *PauseOptions) { o.For = 0 },
		"--for 2m0s: want a time up to 1m":         func(o *PauseOptions) { o.For = 2 * time.Minute },
		"--quanta 0":                               func(o *PauseOptions) { o.Quanta = 0 },
		"--priority 8: want 0 to 7":                func(o *PauseOptions) { o.Priorities = []int{8} },
		"--priority: want 0 to 7":                  func(o *PauseOptions) { o.Priorities = nil },
		"the default route leads over it":          func(o *PauseOptions) { o.Interface = "eth0" },
		"it belongs to a bond or a bridge":         func(o *PauseOptions) { o.Interface = "eth1" },
		"eth2.5 stands on it: the default route":   func(o *PauseOptions) { o.Interface = "eth2" },
		"it is a bridge or a bond: name one link":  func(o *PauseOptions) { o.Interface = "br0" },
		"it is no Ethernet interface":              func(o *PauseOptions) { o.Interface = "ib0" },
		"lo must not be paused: it is no Ethernet": func(o *PauseOptions) { o.Interface = "lo" },
		"it is down":                               func(o *PauseOptions) { o.Interface = "down0" },
		"there is no such interface":               func(o *PauseOptions) { o.Interface = "eth9" },
		"letters, digits":                          func(o *PauseOptions) { o.Interface = "eth0 eth1" },
	} {
		o := good
		change(&o)
		_, err := planPause(context.Background(), o, root)
		require.ErrorContains(t, err, want)
	}
	require.Empty(t, netem.RefusePause(root, "eth3"), "otherwise the test proves nothing")
	file("proc/mounts", "server:/home /home nfs4 rw 0 0")
	require.Contains(t, netem.RefusePause(root, "eth3"), "/home is mounted over the network")
}

// TestOnePauseAtATime: a second link is refused as long as one is paused.
func TestOnePauseAtATime(t *testing.T) {
	dir := t.TempDir()
	release, err := onePause(dir)
	require.NoError(t, err)
	_, err = onePause(dir)
	require.ErrorContains(t, err, "one link at a time")
	release()
	release, err = onePause(dir)
	require.NoError(t, err)
	release()
}

// TestPauseTime: a quantum is 512 bit times; at 10 Gb/s the longest pause is 3.36 ms.
func TestPauseTime(t *testing.T) {
	require.Equal(t, 3355392*time.Nanosecond, netem.PauseTime(65535, 10*sim.Gbps))
	require.Zero(t, netem.PauseTime(65535, 0))
}

// TestPauseFrames: the frames of a plan, as a decoder reads them.
func TestPauseFrames(t *testing.T) {
	var name string
	list, err := net.Interfaces()
	require.NoError(t, err)
	for _, d := range list {
		if len(d.HardwareAddr) == 6 && netem.RefusePause("/", d.Name) == "" {
			name = d.Name
		}
	}
	if name == "" {
		t.Skip("skipped: this machine has no interface to spare; the guest has")
	}
	p, err := planPause(context.Background(), PauseOptions{Interface: name, Priorities: []int{3, 5}, Quanta: 77, For: time.Second, Own: true}, "/")
	require.NoError(t, err)
	var f capture.Frame
	f.Decode(capture.LinkEthernet, p.xoff, len(p.xoff))
	require.Equal(t, capture.KindPause, f.Kind)
	require.Equal(t, capture.Pause{Priority: true, Classes: 1<<3 | 1<<5, Quanta: [8]uint16{3: 77, 5: 77}}, f.Pause)
}

// pauseFrames reads the pause frames of a capture and when they came, in seconds.
func pauseFrames(t *testing.T, path string) (list []capture.Pause, at []float64) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	r, err := capture.NewReader(file)
	require.NoError(t, err)
	var rec capture.Record
	var f capture.Frame
	for {
		if err := r.Next(&rec); err != nil {
			require.True(t, errors.Is(err, io.EOF) || capture.IsCut(err), "%v", err)
			return list, at
		}
		f.Decode(capture.LinkEthernet, rec.Data, rec.Original)
		require.Equal(t, capture.KindPause, f.Kind)
		list, at = append(list, f.Pause), append(at, float64(rec.Sec)+float64(rec.Pico)/1e12)
	}
}

// checkPauses looks at what the other end of a pair of interfaces has captured of
// hw pause: XOFF of the right opcode, priority and quanta for the time that was
// asked for, and then XON; after a kill nothing but XON.
func checkPauses(t *testing.T, share string, read func(string) string) {
	xoff := capture.Pause{Priority: true, Classes: 1 << 3, Quanta: [8]uint16{3: 60000}}
	xon := capture.Pause{Priority: true, Classes: 1 << 3}
	count := func(list []capture.Pause, p capture.Pause) (n int) {
		for _, f := range list {
			if f == p {
				n++
			}
		}
		return n
	}
	list, at := pauseFrames(t, filepath.Join(share, "pause.pcap"))
	m := regexp.MustCompile(`sent (\d+) XOFF frames of priority 3, 60000 quanta \(.* at 10Gbps\), by roce0`).FindStringSubmatch(read("pause.out"))
	require.NotNil(t, m, read("pause.out"))
	require.Equal(t, m[1], strconv.Itoa(count(list, xoff)), "the other end has captured what was sent")
	require.Greater(t, count(list, xoff), 5)
	require.Equal(t, xons, count(list, xon))
	require.Len(t, list, count(list, xoff)+xons, "and nothing else")
	require.Equal(t, xon, list[len(list)-1])
	require.Less(t, at[len(at)-xons-1]-at[0], 1.0, "XOFF within the time that was asked for")

	killed, _ := pauseFrames(t, filepath.Join(share, "pause-killed.pcap"))
	require.Positive(t, count(killed, xoff), "it was sending when it was killed")
	require.Equal(t, xon, killed[len(killed)-1], "the guard has let the link go")
	after, _ := pauseFrames(t, filepath.Join(share, "pause-after.pcap"))
	require.Empty(t, after, "nothing is sent after a kill")
	require.Contains(t, read("pause-refused.out"), "--i-own-this-fabric")
	require.Contains(t, read("pause-second.out"), "one link at a time")
}
