package hpcc

import (
	"fmt"
	"slices"
	"strings"

	"rdmasim/sim"
)

// CCMode selects congestion control.
type CCMode int

// Modes of the HPCC model.
const (
	NoCC     CCMode = 0 // line rate
	DCQCN    CCMode = 1 // as Mellanox NICs have it
	HPCC     CCMode = 3
	TIMELY   CCMode = 7
	DCTCP    CCMode = 8
	HPCCPINT CCMode = 10
)

var ccNames = map[CCMode]string{NoCC: "none", DCQCN: "DCQCN", HPCC: "HPCC", TIMELY: "TIMELY", DCTCP: "DCTCP", HPCCPINT: "HPCC-PINT"}

func (m CCMode) String() string {
	if n, ok := ccNames[m]; ok {
		return fmt.Sprintf("%d (%s)", int(m), n)
	}
	return fmt.Sprintf("%d", int(m))
}

// ECN is the marking curve of the ports of one rate: nothing up to Kmin, linear
// to Pmax at Kmax, everything above.
type ECN struct {
	Rate       sim.Rate
	Kmin, Kmax sim.Bytes
	Pmax       sim.Ratio
}

// LinkDown takes the links between two nodes down, at a time counted from 2 s.
// At 0 nothing happens.
type LinkDown struct {
	At   sim.Duration
	A, B int
}

// Config is a config.txt, built-in defaults filled in. Keys whose values mean
// nothing to anybody (Dead) are in the notes only.
type Config struct {
	EnableQCN       bool      // ENABLE_QCN: switches mark
	ClampTargetRate bool      // CLAMP_TARGET_RATE: DCQCN sets Rt to Rc on every decrease
	Payload         sim.Bytes // PACKET_PAYLOAD_SIZE per data packet
	ChunkSize       sim.Bytes // L2_CHUNK_SIZE
	AckInterval     sim.Bytes // L2_ACK_INTERVAL; every in-order packet from here on is acknowledged
	BackToZero      bool      // L2_BACK_TO_ZERO: go back to the start of the chunk, instead of go-back-N

	TopologyFile, FlowFile, TraceFile string       // relative to the configuration
	StopTime                          sim.Duration // SIMULATOR_STOP_TIME

	CCMode               CCMode
	AlphaResumeInterval  sim.Duration // whole microseconds
	RateDecreaseInterval sim.Duration // whole microseconds
	RPTimer              sim.Duration // whole microseconds
	EWMAGain             float64      // g
	FastRecoveryTimes    int          // F
	RateAI, RateHAI      sim.Rate
	MinRate, DCTCPRateAI sim.Rate

	ErrorRate       float64 // ERROR_RATE_PER_LINK per packet, for links whose own is 0
	HasWindow       bool    // HAS_WIN: unacknowledged bytes are bounded by the bandwidth-delay product
	GlobalT         bool    // GLOBAL_T: one window and RTT, the largest, for all pairs
	VarWindow       bool    // VAR_WIN: the window shrinks with the rate
	FastReact       bool
	UTarget         float64
	MIThresh        int
	IntMulti        int
	MultiRate       bool
	SampleFeedback  bool
	PintLogBase     float64
	PintProb        float64
	RateBound       bool // RATE_BOUND: pace at the rate of congestion control
	AckHighPriority bool // ACK_HIGH_PRIO: a pause of the data class does not hold back the ACKs of a host
	LinkDown        LinkDown
	EnableTrace     bool
	Buffer          sim.Bytes // BUFFER_SIZE per switch
	ECN             []ECN     // in the order of KMAX_MAP; rates that all three maps have

	file string
	maps [3][]rateValue // KMAX_MAP, KMIN_MAP, PMAX_MAP
	seen map[string]token
}

type rateValue struct {
	rate  sim.Rate
	value float64
}

// defaults returns the built-in values of that model.
func defaults() *Config {
	const us = sim.Microsecond
	return &Config{EnableQCN: true, Payload: 1000, StopTime: 3010 * sim.Millisecond, CCMode: DCQCN,
		AlphaResumeInterval: 55 * us, RateDecreaseInterval: 4 * us, FastRecoveryTimes: 5,
		MinRate: 100 * sim.Mbps, DCTCPRateAI: 1000 * sim.Mbps, HasWindow: true, GlobalT: true, FastReact: true,
		UTarget: 0.95, MIThresh: 5, IntMulti: 1, MultiRate: true, PintLogBase: 1.05, PintProb: 1,
		RateBound: true, EnableTrace: true, Buffer: 16 * sim.MiB, seen: map[string]token{}}
}

// ParseConfig reads a config.txt: `KEY value...` in any order. A word that is
// no key is an error that names the nearest one: that model skips it in
// silence and takes its value for a key. Lines that begin with # are comments,
// unless they contain a key, which that model would read. The notes tell of
// every key that stands in the file. Errors name file and line.
func ParseConfig(file string, text []byte) (*Config, []Note, error) {
	c := defaults()
	c.file = file
	r := &reader{file: file}
	for _, line := range lines(text) {
		words, err := uncomment(file, line)
		if err != nil {
			return nil, nil, err
		}
		r.words = append(r.words, words...)
	}
	var notes []Note
	for r.next < len(r.words) {
		t, _ := r.take("")
		k, ok := keys[t.text]
		if !ok {
			return nil, nil, r.errorf(t.line, "%s", unknownKey(t.text))
		}
		from := r.next
		r.key = t.text
		if err := k.parse(r, c); err != nil {
			return nil, nil, err
		}
		note := Note{File: file, Line: t.line, Key: t.text, Value: join(r.words[from:r.next])}
		for i := range notes {
			if notes[i].Key == t.text {
				notes[i].Status, notes[i].Reason = Dead, fmt.Sprintf("given again in line %d, and the last one counts", t.line)
			}
		}
		notes = append(notes, note)
		c.seen[t.text] = t
	}
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	return c, c.judge(notes), nil
}

// uncomment cuts a comment off a line.
func uncomment(file string, line []token) ([]token, error) {
	for i, t := range line {
		if !strings.HasPrefix(t.text, "#") {
			continue
		}
		for _, w := range line[i:] {
			if _, ok := keys[strings.TrimLeft(w.text, "#")]; ok {
				return nil, fmt.Errorf("%s:%d: a comment contains the key %s: the HPCC simulator knows no comments and would read it; remove the line", file, w.line, strings.TrimLeft(w.text, "#"))
			}
		}
		return line[:i], nil
	}
	return line, nil
}

func unknownKey(word string) string {
	if isNumber(word) {
		return fmt.Sprintf("%q stands where a key should: the key before it takes fewer values", clip(word))
	}
	if n := nearest(word, keyNames()); n != "" {
		return fmt.Sprintf("unknown key %q: did you mean %s?", clip(word), n)
	}
	return fmt.Sprintf("unknown key %q: want one of %s", clip(word), strings.Join(keyNames(), ", "))
}

// clip shortens a word for an error.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

func join(words []token) string {
	s := make([]string, len(words))
	for i, w := range words {
		s[i] = w.text
	}
	return strings.Join(s, " ")
}

// errorf is an error at the line of a key, or at the file if it is absent.
func (c *Config) errorf(key, format string, args ...any) error {
	at := c.file
	if t, ok := c.seen[key]; ok {
		at = fmt.Sprintf("%s:%d", c.file, t.line)
	}
	return fmt.Errorf("%s: %s: %s", at, key, fmt.Sprintf(format, args...))
}

// check refuses what would not run there either, or only by accident.
func (c *Config) check() error {
	need := func(keys ...string) error {
		for _, k := range keys {
			if _, ok := c.seen[k]; !ok {
				return c.errorf(k, "is missing, and CC_MODE %v needs it: it has no default", c.CCMode)
			}
		}
		return nil
	}
	for _, k := range []string{"TOPOLOGY_FILE", "FLOW_FILE"} {
		if _, ok := c.seen[k]; !ok {
			return c.errorf(k, "is missing")
		}
	}
	if c.AckInterval == 0 {
		return c.errorf("L2_ACK_INTERVAL", "0, which is also the default: no packet would be acknowledged and no flow would end; want 1 or more")
	}
	switch c.CCMode {
	case NoCC, DCTCP:
	case DCQCN:
		if err := need("RP_TIMER", "RATE_AI", "RATE_HAI"); err != nil {
			return err
		}
	case HPCC, HPCCPINT:
		if err := need("RATE_AI"); err != nil {
			return err
		}
	case TIMELY:
		if err := need("RATE_AI", "RATE_HAI"); err != nil {
			return err
		}
	default:
		return c.errorf("CC_MODE", "%d: want 0 (none), 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) or 10 (HPCC-PINT)", int(c.CCMode))
	}
	return c.joinMaps()
}

// Require refuses a congestion control that is not among the supported ones.
func (c *Config) Require(supported ...CCMode) error {
	names := make([]string, len(supported))
	for i, m := range supported {
		if m == c.CCMode {
			return nil
		}
		names[i] = m.String()
	}
	return c.errorf("CC_MODE", "%v is not supported: want %s", c.CCMode, strings.Join(names, " or "))
}

// joinMaps makes ECN from the three maps.
func (c *Config) joinMaps() error {
	c.ECN = nil
	for i, kmax := range c.maps[0] {
		if _, again := find(c.maps[0][i+1:], kmax.rate); again {
			continue
		}
		kmin, ok1 := find(c.maps[1], kmax.rate)
		pmax, ok2 := find(c.maps[2], kmax.rate)
		if !ok1 || !ok2 {
			continue // an error only if a port has this rate: see Marking
		}
		if kmin > kmax.value {
			return c.errorf("KMIN_MAP", "%v: Kmin %g is above Kmax %g", kmax.rate, kmin, kmax.value)
		}
		c.ECN = append(c.ECN, ECN{kmax.rate, thousand(kmin), thousand(kmax.value), sim.Ratio(pmax)})
	}
	return nil
}

func thousand(k float64) sim.Bytes { return sim.Bytes(k) * 1000 }

func find(m []rateValue, r sim.Rate) (float64, bool) {
	for i := len(m) - 1; i >= 0; i-- { // the last one given counts
		if m[i].rate == r {
			return m[i].value, true
		}
	}
	return 0, false
}

// Marking returns the curve of switch ports of that rate; the error names the
// rate and the map that lacks it.
func (c *Config) Marking(rate sim.Rate) (ECN, error) {
	for i, key := range mapKeys {
		if _, ok := find(c.maps[i], rate); !ok {
			return ECN{}, c.errorf(key, "has no value for %v (%d), and a switch has a port of that rate", rate, int64(rate))
		}
	}
	i := slices.IndexFunc(c.ECN, func(e ECN) bool { return e.Rate == rate })
	return c.ECN[i], nil
}

var mapKeys = [3]string{"KMAX_MAP", "KMIN_MAP", "PMAX_MAP"}
