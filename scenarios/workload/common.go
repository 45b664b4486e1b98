package workload

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"rdmasim/sim"
	"rdmasim/verbs"
)

// Bounds on what a scenario may ask for, so that a slip of the pen cannot take
// unbounded memory.
const (
	MaxDepth      = 1 << 16
	MaxQPsPerPeer = 1 << 12
	MaxPriority   = 7 // IEEE 802.1Q has eight
)

// Common holds the parameters that every workload has. Parameter structs embed
// it; its keys stand beside theirs.
type Common struct {
	Start      sim.Duration `key:"start" doc:"when the traffic begins"`
	Stop       sim.Duration `key:"stop" doc:"nothing new is posted from this time on; 0s = the end of the run"`
	Verb       string       `key:"verb" doc:"write (RDMA WRITE), send (SEND, which completes at the receiver too) or read (RDMA READ: the data comes from the peer)"`
	QPsPerPeer int          `key:"qps_per_peer" doc:"queue pairs between two hosts; each carries the whole traffic of the pair once"`
	Priority   Priority     `key:"priority" doc:"802.1p priority of the data, 0..7; -1 = that of the NIC"`
	Tag        string       `key:"tag" doc:"label of the messages in the report; empty = the name of the workload"`
}

// defaultCommon returns the defaults of Common.
func defaultCommon() Common { return Common{Verb: "write", QPsPerPeer: 1} }

// Priority is an 802.1p priority or, as its zero value, that of the NIC; in
// text 0..7 or -1.
type Priority struct{ plusOne uint8 }

// PriorityOf returns the priority p in 0..7; anything else is that of the NIC.
func PriorityOf(p int) Priority {
	if p < 0 || p > MaxPriority {
		return Priority{}
	}
	return Priority{uint8(p + 1)}
}

// Value returns 0..7, or -1 for that of the NIC.
func (p Priority) Value() int { return int(p.plusOne) - 1 }

// MarshalText prints the priority as Value does.
func (p Priority) MarshalText() ([]byte, error) {
	return strconv.AppendInt(nil, int64(p.Value()), 10), nil
}

// UnmarshalText reads 0..7 or -1.
func (p *Priority) UnmarshalText(b []byte) error {
	v, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || v < -1 || v > MaxPriority {
		return fmt.Errorf("%q is not a priority: want 0..%d, or -1 for that of the NIC", b, MaxPriority)
	}
	*p = PriorityOf(v)
	return nil
}

// Repeat is how often something is done: a count, or forever.
type Repeat int64

// Forever repeats until the workload stops.
const Forever Repeat = -1

// MarshalText prints the count or "forever".
func (r Repeat) MarshalText() ([]byte, error) {
	if r == Forever {
		return []byte("forever"), nil
	}
	return strconv.AppendInt(nil, int64(r), 10), nil
}

// UnmarshalText reads a positive count or "forever".
func (r *Repeat) UnmarshalText(b []byte) error {
	s := strings.TrimSpace(string(b))
	if s == "forever" {
		*r = Forever
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v <= 0 {
		return fmt.Errorf("%q is not a number of repetitions: want 1 or more, or forever", b)
	}
	*r = Repeat(v)
	return nil
}

// HostSet selects hosts: all, a count (so many from the first on),
// or names and patterns (leaf3-*). In text a list, or one of these alone.
type HostSet []string

// UnmarshalText reads all, a count, or names separated by commas.
func (s *HostSet) UnmarshalText(b []byte) error {
	*s = nil
	for _, name := range strings.Split(string(b), ",") {
		if name = strings.TrimSpace(name); name != "" {
			*s = append(*s, name)
		}
	}
	return nil
}

// resolve returns the indices of the selected hosts, each once; key names the
// parameter in errors, and except (-1 = none) is a host that may not be among
// them: all and a count pass over it.
func (s HostSet) resolve(c *Context, key string, except int) ([]int, error) {
	if len(s) == 0 {
		return nil, fmt.Errorf("%s: names no host: want how many, which, or all", key)
	}
	if len(s) == 1 && s[0] == "all" {
		return others(len(c.Hosts), except), nil
	}
	if len(s) == 1 {
		if n, err := strconv.Atoi(s[0]); err == nil {
			free := others(len(c.Hosts), except)
			if n < 1 || n > len(free) {
				return nil, fmt.Errorf("%s: %d hosts: want 1..%d, or names", key, n, len(free))
			}
			return free[:n], nil
		}
	}
	var out []int
	seen := make(map[int]bool, len(s))
	for _, name := range s {
		found, err := matchHosts(c, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		pattern := len(found) > 1 || strings.ContainsAny(name, "*?[")
		for _, i := range found {
			switch {
			case i == except && pattern:
				continue
			case i == except:
				return nil, fmt.Errorf("%s: %s cannot send to itself", key, name)
			case seen[i] && !pattern:
				return nil, fmt.Errorf("%s: %s is named twice", key, name)
			case seen[i]:
				continue
			}
			seen[i] = true
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no host left besides %s", key, c.Hosts[except])
	}
	return out, nil
}

// matchHosts returns the host of that name or, for a pattern, all that match.
func matchHosts(c *Context, name string) ([]int, error) {
	if !strings.ContainsAny(name, "*?[") {
		i, err := c.host(name)
		return []int{i}, err
	}
	var out []int
	for i, h := range c.Hosts {
		ok, err := path.Match(name, h)
		if err != nil {
			return nil, fmt.Errorf("%q is not a pattern of host names", name)
		}
		if ok {
			out = append(out, i)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("no host matches %q: there are %s", name, nameSome(c.Hosts))
	}
	return out, nil
}

// host resolves one name; the error says which hosts exist.
func (c *Context) host(name string) (int, error) {
	i, err := c.HostIndex(name)
	if err != nil {
		return 0, fmt.Errorf("unknown host %q: there are %s", name, nameSome(c.Hosts))
	}
	return i, nil
}

// nameSome lists names, the middle of a long list left out.
func nameSome(names []string) string {
	const most = 12
	if len(names) == 0 {
		return "none"
	}
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, ... %s (%d hosts)", strings.Join(names[:most-2], ", "), names[len(names)-1], len(names))
}

// others returns 0..n-1 without except.
func others(n, except int) []int {
	out := make([]int, 0, n)
	for i := range n {
		if i != except {
			out = append(out, i)
		}
	}
	return out
}

// traffic is Common made ready for instances.
type traffic struct {
	name     string
	start    sim.Duration
	stop     sim.Time
	warmup   sim.Time
	opcode   verbs.Opcode
	qps      int
	priority int
	tag      string
	warmTag  string // of messages posted during the warm-up
}

// resolve checks c's values for the workload of that name.
func (c Common) resolve(ctx *Context, name string) (traffic, error) {
	t := traffic{name: name, start: c.Start, stop: sim.Never, warmup: sim.Time(ctx.Warmup), qps: c.QPsPerPeer, priority: c.Priority.Value(), tag: c.Tag}
	switch c.Verb {
	case "write":
		t.opcode = verbs.OpWrite
	case "send":
		t.opcode = verbs.OpSend
	case "read":
		t.opcode = verbs.OpRead
	default:
		return t, fmt.Errorf("verb: %q: want write, send or read", c.Verb)
	}
	switch {
	case len(ctx.Hosts) < 2:
		return t, fmt.Errorf("needs at least 2 hosts, and the fabric has %d", len(ctx.Hosts))
	case c.Start < 0:
		return t, fmt.Errorf("start: %v is before the run", c.Start)
	case c.Stop < 0 || c.Stop > 0 && c.Stop <= c.Start:
		return t, fmt.Errorf("stop: %v is not after start %v", c.Stop, c.Start)
	case ctx.Duration > 0 && c.Start >= ctx.Duration:
		return t, fmt.Errorf("start: %v is not before the end of the run, %v", c.Start, ctx.Duration)
	case c.QPsPerPeer < 1 || c.QPsPerPeer > MaxQPsPerPeer:
		return t, fmt.Errorf("qps_per_peer: %d: want 1..%d", c.QPsPerPeer, MaxQPsPerPeer)
	}
	if c.Stop > 0 {
		t.stop = sim.Time(c.Stop)
	} else if ctx.Duration > 0 {
		t.stop = sim.Time(ctx.Duration)
	}
	if t.tag == "" {
		t.tag = name
	}
	t.warmTag = t.tag + "/warmup"
	return t, nil
}

// tagAt returns the label of a message posted now: what is posted during the
// warm-up says so.
func (t *traffic) tagAt(now sim.Time) string {
	if now < t.warmup {
		return t.warmTag
	}
	return t.tag
}

// send says whether the receiver has to post receives.
func (t *traffic) send() bool { return t.opcode == verbs.OpSend }

// checkEnds refuses endless traffic in a run without an end.
func (t *traffic) checkEnds(r Repeat) error {
	if r == Forever && t.stop == sim.Never {
		return fmt.Errorf("repeat: forever needs an end: give the run a duration or the workload a stop")
	}
	if r != Forever && r <= 0 {
		return fmt.Errorf("repeat: %d: want 1 or more, or forever", r)
	}
	return nil
}

// maxMessage returns the largest message that a queue pair carries, at most
// what the private data of a connection can tell the peer.
func (c *Context) maxMessage() sim.Bytes {
	if c.MaxMessage > 0 {
		return min(c.MaxMessage, 1<<privateSizeBits-1)
	}
	return 2 * sim.GiB
}

func checkMessage(c *Context, key string, n sim.Bytes) error {
	if largest := c.maxMessage(); n < 1 || n > largest {
		return fmt.Errorf("%s: %v: want 1B..%v", key, n, largest)
	}
	return nil
}

func checkDepth(n int) error {
	if n < 1 || n > MaxDepth {
		return fmt.Errorf("depth: %d: want 1..%d", n, MaxDepth)
	}
	return nil
}

// oneOf checks a key that takes one of a few words.
func oneOf(key, v string, words ...string) error {
	if slices.Contains(words, v) {
		return nil
	}
	return fmt.Errorf("%s: %q: want %s", key, v, strings.Join(words, " or "))
}
