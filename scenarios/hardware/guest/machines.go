package guest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

//go:embed machines.sh
var machinesScript string

// MaxMachines bounds the machines of one lab.
const MaxMachines = 4

// machineName names the machines of a lab: a, b, c, d.
func machineName(i int) string { return string(rune('a' + i)) }

// wire is a segment of Ethernet that all machines of a lab are on. Its hub is in
// the first machine, and from there a pair of Unix sockets leads to each of the
// others: no port of the host is opened.
type wire struct {
	name string
	nics int // of each machine
	mac  int // last but one byte of the addresses
}

// wires are the one that ssh goes over and the one of the RDMA devices, so that
// faults of the latter do not touch the former.
var wires = []wire{{"m", 1, 8}, {"r", 2, 7}}

// nics returns the arguments that plug machine i of n into the wires; dir holds
// the sockets.
func nics(dir string, i, n int) (args []string) {
	dir = strings.ReplaceAll(dir, ",", ",,")
	socket := func(w wire, from, to int) string {
		return fmt.Sprintf("%s/%s%d%d", dir, w.name, from, to)
	}
	for hub, w := range wires {
		plug := func(id, rest string) {
			args = append(args, "-netdev", "hubport,id="+id+fmt.Sprintf(",hubid=%d", hub)+rest)
		}
		for k := range n {
			if (i == 0) == (k == 0) { // wires go between the first machine and the others
				continue
			}
			id := fmt.Sprintf("%ss%d", w.name, k)
			args = append(args, "-netdev", fmt.Sprintf("dgram,id=%s,local.type=unix,local.path=%s,remote.type=unix,remote.path=%s", id, socket(w, i, k), socket(w, k, i)))
			plug(id+"h", ",netdev="+id)
		}
		for k := range w.nics {
			id := fmt.Sprintf("%sn%d", w.name, k)
			plug(id, "")
			args = append(args, "-device", fmt.Sprintf("virtio-net-pci,netdev=%s,mac=02:00:00:00:%02x:%02x,romfile=", id, w.mac, w.nics*i+k+1))
		}
	}
	return args
}

// machineFiles are the files that make a machine number i of n: they take the
// place of those of the image.
func machineFiles(i, n int) map[string]string {
	var names, hosts strings.Builder
	for k := range n {
		fmt.Fprintf(&names, " %s", machineName(k))
		fmt.Fprintf(&hosts, "10.8.0.%d %s\n", k+1, machineName(k))
	}
	return map[string]string{
		"lab.sh":       machinesScript,
		"machine":      fmt.Sprintf("number=%d self=%s machines='%s'\n", i, machineName(i), names.String()[1:]),
		"etc/hosts":    "127.0.0.1 localhost\n" + hosts.String(),
		"etc/hostname": machineName(i) + "\n",
	}
}

// runMachines boots all machines of a job. The script runs on the first; the
// others serve ssh until it ends.
func (im Image) runMachines(ctx context.Context, tmp, share string, j Job) (int, error) {
	if j.Machines > MaxMachines {
		return 0, fmt.Errorf("%d machines: want 1 to %d", j.Machines, MaxMachines)
	}
	if j.Counted {
		return 0, errors.New("the times of several machines that count instructions would drift apart")
	}
	programs, err := im.openSSH(ctx)
	if err != nil {
		return 0, err
	}
	for to, from := range j.Programs {
		programs[to] = from
	}
	j.Programs = programs
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	early := make(chan error, j.Machines)
	for i := 1; i < j.Machines; i++ {
		other := j
		other.Console, other.Script = nil, "while :; do sleep 3600; done"
		dir := filepath.Join(share, machineName(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return 0, err
		}
		defer os.Remove(dir) // what a script has left there stays
		wg.Go(func() {
			_, err := im.boot(ctx, tmp, dir, other, i)
			if ctx.Err() == nil {
				early <- fmt.Errorf("machine %s has ended: %w", machineName(i), err)
				cancel()
			}
		})
	}
	status, err := im.boot(ctx, tmp, share, j, 0)
	select {
	case e := <-early:
		err = errors.Join(e, err)
	default:
	}
	return status, err
}
