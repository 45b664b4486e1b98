package hardware

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rdmasim/fabric/netem"
)

// Names of the interfaces on which the ceiling is measured.
const (
	probeIn, probeInPort   = "rdmasim-t0", "rdmasim-t1"
	probeOut, probeOutPort = "rdmasim-t2", "rdmasim-t3"
)

// measureCeiling measures how many packets per second a bridge of this host
// forwards, plain and with an impairment at its port: one processor sends frames
// into a pair of interfaces as fast as it can, a bridge hands them to another
// pair, and what comes out is counted. The sender's work is part of it, and the
// drivers of the NICs are not. Everything is undone before it returns.
func (w *world) measureCeiling(ctx context.Context, out io.Writer) (ceiling float64, err error) {
	var all []netem.Change
	pair := func(a, b string) netem.Change {
		return netem.Change{What: "a pair of interfaces", Do: netem.Command{"ip", "link", "add", a, "type", "veth", "peer", "name", b}, Undo: netem.Command{"ip", "link", "del", "dev", a}}
	}
	all = append(all, pair(probeIn, probeInPort), pair(probeOut, probeOutPort))
	join, err := netem.Bridge("/", probeInPort, probeOutPort)
	if err != nil {
		return 0, err
	}
	all = append(all, join...)
	for _, dev := range []string{probeIn, probeOut} {
		all = append(all, netem.Change{What: dev + " up", Do: netem.Command{"ip", "link", "set", "dev", dev, "up"}})
	}
	quiet := *w.injector
	quiet.runner = netem.Exec{}
	apply := func(list []netem.Change) error {
		for _, c := range list {
			if err := quiet.journal.Apply(ctx, quiet.runner, c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := apply(all); err != nil {
		return 0, err
	}
	defer func() {
		if undo := quiet.journal.Revert(context.Background(), quiet.runner, all); err == nil {
			err = undo
		}
	}()
	if err := awaitForwarding(ctx, probeInPort, probeOutPort); err != nil {
		return 0, err
	}
	plain, err := blast(ctx, probeIn, probeOut)
	if err == nil { // what came first warmed the caches
		plain, err = blast(ctx, probeIn, probeOut)
	}
	if err != nil {
		return 0, fmt.Errorf("measuring the bridge: %w", err)
	}
	impair, err := netem.Impair(probeOutPort, netem.Impairment{Loss: 1e-6}, netem.Select{})
	if err != nil {
		return 0, err
	}
	if err := apply(impair); err != nil {
		return 0, err
	}
	impaired, err := blast(ctx, probeIn, probeOut)
	if err != nil {
		return 0, fmt.Errorf("measuring the bridge: %w", err)
	}
	fmt.Fprintf(out, "ceiling of a bridge of this host, one processor, sender included, drivers of NICs not: %.0f packets/s, %.0f packets/s through netem (%.2f Gbit/s of 1024-byte payloads)\n",
		plain, impaired, impaired*1024*8/1e9)
	return impaired, quiet.journal.Revert(context.Background(), quiet.runner, impair)
}

// awaitForwarding waits until ports of a bridge forward: the kernel takes up to a
// second to notice that a link is there.
func awaitForwarding(ctx context.Context, ports ...string) error {
	const forwarding = "3" // BR_STATE_FORWARDING
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		waiting := ""
		for _, p := range ports {
			b, err := os.ReadFile(filepath.Join("/sys/class/net", p, "brport/state"))
			if err != nil || strings.TrimSpace(string(b)) != forwarding {
				waiting = p
			}
		}
		switch {
		case waiting == "" || ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("port %s of the bridge does not forward after 5 s: is there a link?", waiting)
		}
	}
}

// blastTime is how long frames are sent.
const blastTime = 300 * time.Millisecond

// blast sends frames of RoCEv2's size into one interface and returns how many
// come out of another per second.
func blast(ctx context.Context, in, out string) (float64, error) {
	from, err := net.InterfaceByName(in)
	if err != nil {
		return 0, err
	}
	to, err := net.InterfaceByName(out)
	if err != nil {
		return 0, err
	}
	send, done, err := frameSender(from, roceFrame(from.HardwareAddr, to.HardwareAddr))
	if err != nil {
		return 0, err
	}
	defer done()
	before, start := readPort(out).rx, time.Now()
	for time.Since(start) < blastTime && ctx.Err() == nil {
		for range 64 {
			if err := send(); err != nil {
				return 0, err
			}
		}
	}
	return float64(readPort(out).rx-before) / time.Since(start).Seconds(), ctx.Err()
}

// roceFrame is an Ethernet frame with 1024 bytes of payload and the headers of
// IPv4, UDP port 4791 and BTH. Nobody reads what follows the header of IPv4.
func roceFrame(src, dst net.HardwareAddr) []byte {
	const ip, udp, bth, payload, icrc = 20, 8, 12, 1024, 4
	f := make([]byte, 14+ip+udp+bth+payload+icrc)
	copy(f, dst)
	copy(f[6:], src)
	f[12], f[13] = 0x08, 0x00
	h := f[14:]
	h[0], h[8], h[9] = 0x45, 64, 17
	n := ip + udp + bth + payload + icrc
	h[2], h[3] = byte(n>>8), byte(n)
	copy(h[12:], []byte{192, 0, 2, 1, 192, 0, 2, 2}) // TEST-NET-1, RFC 5737
	sum := uint32(0)                                 // RFC 791: bridges may check it
	for i := 0; i < ip; i += 2 {
		sum += uint32(h[i])<<8 | uint32(h[i+1])
	}
	sum = sum&0xffff + sum>>16
	sum = ^(sum&0xffff + sum>>16)
	h[10], h[11] = byte(sum>>8), byte(sum)
	h[20], h[21], h[22], h[23] = 0xc0, 0x00, byte(netem.RoCEv2Port>>8), byte(netem.RoCEv2Port&0xff)
	h[24], h[25] = byte((n-ip)>>8), byte(n-ip)
	return f
}
