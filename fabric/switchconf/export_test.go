package switchconf

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// A switch in plain numbers, from which the tests make a Switch, and with which
// they compare what a reader of each vendor's words finds.
type wantClass struct {
	queue, group                                int
	pfc, ecn, buffer, dynamic, strict           bool
	kmin, kmax                                  int64
	pmax                                        float64
	headroom, xon, xonOffset, reserve, staticTh int64
	alpha, weight                               int
	wred, profile                               string
}

type wantPort struct {
	name            string
	gbps            int
	cable           sim.Length
	dscp            map[int]int
	class           [8]wantClass
	detect, restore sim.Duration
	action          WatchdogAction
}

// facts are what is known of ports and classes: "0/3/kmin" is Kmin of class 3
// of the first port, "0/-1/cable" is of the port.
type facts map[string]string

func (f facts) set(port, class int, field string, value any) {
	f[fmt.Sprintf("%d/%d/%s", port, class, field)] = fmt.Sprint(value)
}

// facts of a switch in plain numbers.
func wanted(ports []wantPort) facts {
	f := facts{}
	for i, p := range ports {
		for d, c := range p.dscp {
			f.set(i, c, fmt.Sprintf("dscp %d", d), c)
		}
		if p.cable > 0 {
			f.set(i, -1, FieldCable, p.cable)
		}
		if p.detect > 0 {
			f.set(i, -1, FieldWatchdog, p.detect)
		}
		for k, c := range p.class {
			size := func(field string, n int64) {
				if n > 0 {
					f.set(i, k, field, n)
				}
			}
			if c.ecn {
				f.set(i, k, FieldKmin, c.kmin)
				f.set(i, k, FieldKmax, c.kmax)
				f.set(i, k, FieldPmax, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", c.pmax*100), "0"), ".")+"%")
			}
			if c.pfc {
				f.set(i, k, FieldPFC, "on")
				if c.buffer {
					size(FieldHeadroom, c.headroom)
					size(FieldXon, c.xon)
					size(FieldXonOffset, c.xonOffset)
					size(FieldReserve, c.reserve)
					if c.dynamic {
						f.set(i, k, FieldAlpha, fmt.Sprintf("2^%d", c.alpha))
					} else {
						size(FieldStatic, c.staticTh)
					}
				}
				if c.group != k {
					f.set(i, k, FieldGroup, c.group)
				}
			}
			if c.queue != k && (c.ecn || c.pfc) {
				f.set(i, k, FieldQueue, c.queue)
			}
			if c.strict {
				f.set(i, k, FieldStrict, "strict")
			} else if c.weight > 0 {
				f.set(i, k, FieldWeight, c.weight)
			}
		}
	}
	return f
}

// randomPorts makes up a switch.
func randomPorts(r *rand.Rand) []wantPort {
	kinds := make([]wantPort, 1+r.IntN(3))
	for i := range kinds {
		kinds[i] = randomPort(r)
	}
	if r.IntN(2) == 0 { // one map for all
		for i := range kinds {
			kinds[i].dscp = kinds[0].dscp
		}
	}
	ports := make([]wantPort, 1+r.IntN(6))
	for i := range ports {
		ports[i] = kinds[r.IntN(len(kinds))]
		ports[i].name = fmt.Sprintf("Ethernet%d", 4*i)
	}
	return ports
}

func randomPort(r *rand.Rand) wantPort {
	p := wantPort{gbps: []int{25, 100, 400}[r.IntN(3)], cable: sim.Length(r.IntN(300_000)), dscp: map[int]int{}}
	if r.IntN(3) == 0 {
		p.cable = p.cable / sim.Metre * sim.Metre
	}
	queues := []int{0, 1, 2, 3, 4, 5, 6, 7}
	groups := []int{0, 1, 2, 3, 4, 5, 6, 7}
	if r.IntN(3) == 0 {
		r.Shuffle(8, func(i, j int) { queues[i], queues[j] = queues[j], queues[i] })
	}
	if r.IntN(4) == 0 {
		r.Shuffle(8, func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	}
	for k := range p.class {
		c := &p.class[k]
		c.queue, c.group, c.pfc, c.ecn, c.buffer = queues[k], groups[k], r.IntN(4) == 0, r.IntN(4) == 0, r.IntN(5) > 0
		c.kmin = r.Int64N(5_000_000)
		c.kmax = c.kmin + r.Int64N(5_000_000)
		c.pmax = float64(1+r.IntN(100)) / 100
		if r.IntN(2) == 0 {
			c.pmax = float64(1+r.IntN(9999)) / 10000
		}
		c.headroom, c.xon, c.xonOffset, c.reserve = r.Int64N(2_000_000), r.Int64N(30_000), r.Int64N(20_000), r.Int64N(50_000)
		for _, n := range []*int64{&c.headroom, &c.xon, &c.xonOffset, &c.reserve} {
			if r.IntN(4) == 0 {
				*n = 0
			}
		}
		c.dynamic, c.alpha, c.staticTh = r.IntN(3) > 0, r.IntN(11)-7, 1+r.Int64N(10_000_000)
		if c.strict = r.IntN(4) == 0; !c.strict {
			c.weight = r.IntN(101)
		}
		c.wred, c.profile = "AZURE_LOSSLESS", fmt.Sprintf("pg_lossless_%d", r.IntN(1000))
	}
	for range r.IntN(12) {
		p.dscp[r.IntN(64)] = r.IntN(8)
	}
	if r.IntN(2) == 0 {
		p.detect, p.restore, p.action = sim.Duration(1+r.IntN(900))*sim.Millisecond, sim.Duration(1+r.IntN(900))*sim.Millisecond, []WatchdogAction{ActionDrop, ActionForward, ActionAlert}[r.IntN(3)]
	}
	return p
}

// switchOf makes a Switch of plain numbers.
func switchOf(hostname string, ports []wantPort) *Switch {
	s := &Switch{Hostname: Of(hostname), Pools: []Pool{{Name: "pool", Type: Of(Ingress), Mode: Of(DynamicPool), Size: Of(sim.Bytes(32 << 20))}}}
	name := func(kind string) string {
		return fmt.Sprintf("%s%d", kind, len(s.Profiles)+len(s.WRED)+len(s.Schedulers)+len(s.DSCPToTC))
	}
	for _, p := range ports {
		out := Port{Name: p.name, Speed: Of(sim.Rate(p.gbps) * sim.Gbps), Cable: Of(p.cable)}
		dscp, queue, group := Map{Name: name("dscp")}, Map{Name: name("queue")}, Map{Name: name("group")}
		for d := range 64 {
			if c, ok := p.dscp[d]; ok {
				dscp.Entries = append(dscp.Entries, Entry{Key: d, To: c})
			}
		}
		var pfc []int
		for k, c := range p.class {
			queue.Entries, group.Entries = append(queue.Entries, Entry{Key: k, To: c.queue}), append(group.Entries, Entry{Key: k, To: c.group})
			if c.pfc {
				pfc = append(pfc, k)
			}
			q := Queue{Index: c.queue}
			if c.ecn {
				w := WRED{Name: c.wred, ECN: Of(ECNAll)}
				for find(s.WRED, func(o *WRED) bool { return o.Name == w.Name }) != nil {
					w.Name = name(c.wred)
				}
				w.Colours[Green] = WREDCurve{Enable: Of(true), Min: Of(sim.Bytes(c.kmin)), Max: Of(sim.Bytes(c.kmax)), Probability: Of(sim.Ratio(c.pmax))}
				s.WRED = append(s.WRED, w)
				q.WRED = Of(w.Name)
			}
			if c.strict || c.weight > 0 {
				x := Scheduler{Name: name("sched"), Type: Of(Strict)}
				if !c.strict {
					x.Type, x.Weight = Of(DWRR), Of(c.weight)
				}
				s.Schedulers = append(s.Schedulers, x)
				q.Scheduler = Of(x.Name)
			}
			if q.WRED.IsSet() || q.Scheduler.IsSet() {
				out.Queues = append(out.Queues, q)
			}
			if c.buffer {
				f := Profile{Name: name(c.profile), Pool: Of("pool"), Size: Of(sim.Bytes(c.reserve)), Xon: Of(sim.Bytes(c.xon)), XonOffset: Of(sim.Bytes(c.xonOffset)), Xoff: Of(sim.Bytes(c.headroom))}
				if c.dynamic {
					f.DynamicTh = Of(c.alpha)
				} else {
					f.StaticTh = Of(sim.Bytes(c.staticTh))
				}
				s.Profiles = append(s.Profiles, f)
				out.PGs = append(out.PGs, PG{Index: c.group, Profile: Of(f.Name)})
			}
		}
		if pfc != nil {
			out.PFCEnable = Of(pfc)
		}
		if p.detect > 0 {
			out.Watchdog = PortWatchdog{Action: Of(p.action), Detection: Of(p.detect), Restoration: Of(p.restore)}
		}
		out.DSCPToTC, out.TCToQueue, out.TCToPG = Of(dscp.Name), Of(queue.Name), Of(group.Name)
		s.DSCPToTC, s.TCToQueue, s.TCToPG = append(s.DSCPToTC, dscp), append(s.TCToQueue, queue), append(s.TCToPG, group)
		s.Ports = append(s.Ports, out)
	}
	return s
}

// reader finds facts in the words of a vendor. It fails on a line that it does
// not know, so that no line can be slipped in.
type reader func(t require.TestingT, text string, ports int) facts

// readers by format. The tests demand one for every renderer.
var readers = map[string]reader{}

// declared returns what a fact becomes by the roundings that are declared.
func declared(r *Rendered, class int, field, value string) string {
	for _, x := range r.Rounded {
		if (x.Class == class || x.Class < 0) && x.Field == field && x.Given == value {
			return x.Written
		}
	}
	return value
}

// covered reports whether the output says that a fact is not in it.
func covered(r *Rendered, class int, field string) bool {
	for _, l := range r.NotExpressed {
		same := l.Field == field || l.Field == FieldDSCP && strings.HasPrefix(field, FieldDSCP) ||
			l.Field == FieldECN && (field == FieldKmin || field == FieldKmax || field == FieldPmax)
		if same && (l.Class == class || l.Class < 0) {
			return true
		}
	}
	return false
}

// byQueue are the fields that a format has for queues, not for classes.
var byQueue = map[string][]string{
	"ecnconfig": {FieldKmin, FieldKmax, FieldPmax},
	"nvue":      {FieldKmin, FieldKmax, FieldPmax},
	"eos":       {FieldKmin, FieldKmax, FieldPmax},
	"vrp":       {FieldKmin, FieldKmax, FieldPmax},
	"dcb":       {FieldKmin, FieldKmax, FieldPmax},
	"nxos":      {FieldKmin, FieldKmax, FieldPmax, FieldPFC, FieldHeadroom, FieldReserve, FieldXonOffset},
	"os10":      {FieldKmin, FieldKmax, FieldPmax},
}

// anyClass covers every class, in a Lack.
const anyClass = -1

// compare demands that a reader finds what went in.
func compare(t *testing.T, r *Rendered, ports []wantPort, got facts) {
	used := map[string]bool{}
	for key, value := range wanted(ports) {
		var port, class int
		parts := strings.SplitN(key, "/", 3)
		_, err := fmt.Sscan(parts[0]+" "+parts[1], &port, &class)
		require.NoError(t, err)
		field := parts[2]
		if slices.Contains(byQueue[r.Format], field) {
			key = fmt.Sprintf("%d/%d/%s", port, ports[port].class[class].queue, field)
		}
		used[key] = true
		found, ok := got[key]
		switch {
		case ok && found != declared(r, class, field, value) && !covered(r, class, field):
			assert.Equal(t, declared(r, class, field, value), found, "%s: %s, given %s", r.Format, key, value)
		case !ok && declared(r, class, field, value) != "0" && !covered(r, class, field):
			assert.Fail(t, "lost in silence", "%s: %s = %s", r.Format, key, value)
		}
	}
	for key, value := range got {
		parts := strings.SplitN(key, "/", 3)
		var port, class int
		if n, _ := fmt.Sscan(parts[0]+" "+parts[1], &port, &class); n == 2 && class >= 0 && parts[2] == FieldQueue && value == fmt.Sprint(ports[port].class[class].queue) {
			continue // true, and of a class that has nothing else
		}
		if strings.HasPrefix(parts[2], FieldDSCP) && covered(r, anyClass, FieldOtherDSCPs) {
			continue
		}
		if !used[key] && !covered(r, anyClass, parts[2]) && !covered(r, anyClass, FieldScope) && !minimum(r, value) {
			assert.Fail(t, "invented", "%s: %s = %s", r.Format, key, value)
		}
	}
}

// minimum reports whether a value stands for a 0 that a device does not take.
func minimum(r *Rendered, value string) bool {
	return slices.ContainsFunc(r.Rounded, func(x Rounding) bool { return x.Given == "0" && x.Written == value })
}

// fixes turn what a reader finds into facts where the words of a vendor refer
// to what is on the switch already.
var fixes = map[string]func(sw *Switch, ports []wantPort, got facts){
	"junos":     fixFillLevels,
	"ecnconfig": fixProfiles,
	"os10":      fixQueues,
}

// fixQueues turns queues of DSCPs and of PFC classes back into classes.
func fixQueues(_ *Switch, ports []wantPort, got facts) {
	for i, p := range ports {
		for k, c := range p.class {
			mapped := false
			for d := range 64 {
				key := fmt.Sprintf("%d/%d/queue of dscp %d", i, c.queue, d)
				if _, ok := got[key]; ok && p.dscp[d] == k {
					delete(got, key)
					got.set(i, k, fmt.Sprintf("dscp %d", d), k)
					mapped = true
				}
			}
			if mapped && c.queue != k && (c.ecn || c.pfc) {
				got.set(i, k, FieldQueue, c.queue)
			}
			key := fmt.Sprintf("%d/%d/of queue", i, k)
			if q, ok := got[key]; ok && q == fmt.Sprint(c.queue) {
				delete(got, key)
			}
		}
	}
}

// fixFillLevels turns shares of the largest queue into bytes.
func fixFillLevels(_ *Switch, ports []wantPort, got facts) {
	for i, p := range ports {
		for k, c := range p.class {
			limit := c.staticTh
			if c.dynamic {
				alpha := math.Pow(2, float64(c.alpha))
				limit = int64(alpha * float64(32<<20) / (1 + alpha))
			}
			for _, field := range []string{FieldKmin, FieldKmax} {
				key := fmt.Sprintf("%d/%d/fill %s", i, k, field)
				if v, ok := got[key]; ok {
					share, _ := strconv.ParseInt(v, 10, 64)
					got.set(i, k, field, limit*share/100)
					delete(got, key)
				}
			}
		}
	}
}

// fixProfiles finds the classes whose profile has a threshold.
func fixProfiles(sw *Switch, ports []wantPort, got facts) {
	for i, p := range ports {
		for k, c := range p.class {
			if g := sw.Ports[i].PG(c.group); g != nil && c.pfc {
				if v, ok := got["profile "+g.Profile.V]; ok {
					got.set(i, k, FieldAlpha, "2^"+v)
				}
			}
		}
	}
	for key := range got {
		if strings.HasPrefix(key, "profile ") {
			delete(got, key)
		}
	}
}

// Whatever the switch: a reader of the vendor's words finds what went in, after
// the roundings that are declared, or is told that it is not there.
func TestRenderersAreReadBack(t *testing.T) {
	n := 120
	if testing.Short() {
		n = 30
	}
	for _, format := range Renderers.Names() {
		t.Run(format, func(t *testing.T) {
			read := readers[format]
			require.NotNil(t, read, "a renderer without a reader")
			for seed := range uint64(n) {
				ports := randomPorts(rand.New(rand.NewPCG(seed, 7)))
				sw := switchOf("sw", ports)
				r, err := Render(format, sw)
				require.NoError(t, err, "seed %d", seed)
				text := r.Text()
				got := read(t, text, len(ports))
				if fix := fixes[format]; fix != nil {
					fix(sw, ports, got)
				}
				compare(t, r, ports, got)
				for _, l := range r.Config {
					require.Contains(t, Effects, l.Effect)
				}
				if t.Failed() {
					t.Fatalf("seed %d:\n%s", seed, text)
				}
			}
		})
	}
}

// hostile are names that would end a line, a word or a quotation.
var hostile = []string{"Ethernet0\nreload", "a b", "x;reboot", "$(reboot)", "'\"`", "END_OF_PATCH\nreboot", "-rf", "\u2028reload", "", strings.Repeat("n", 300), "é", "!", "#x", "a\r\nb"}

// Names of any kind add no line, and JSON stays JSON.
func TestNamesInjectNothing(t *testing.T) {
	for _, format := range Renderers.Names() {
		for seed, evil := range hostile {
			ports := randomPorts(rand.New(rand.NewPCG(uint64(seed), 9)))
			for i := range ports {
				for k := range ports[i].class {
					ports[i].class[k].wred, ports[i].class[k].profile = evil+"w", evil+"p"
				}
			}
			ports[0].name = evil
			r, err := Render(format, switchOf("host\nreload "+evil, ports))
			if err != nil { // SONiC's keys cannot have every name
				assert.NotContains(t, err.Error(), "\n", format)
				continue
			}
			plain := r.Text()
			for _, l := range append(append([]string(nil), r.Verify...), r.Rollback...) {
				assert.NotContains(t, l, "\n")
			}
			for _, l := range r.Config {
				assert.False(t, strings.ContainsAny(l.Text, "\n\r\u2028"), "%s: %q", format, l.Text)
			}
			got := readers[format](t, plain, len(ports)) // fails on lines that it does not know
			assert.NotNil(t, got)
			_, err = json.Marshal(r)
			require.NoError(t, err)
		}
	}
}
