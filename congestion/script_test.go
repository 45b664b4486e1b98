package congestion

import (
	"encoding"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// Scripts in testdata are dialogues with one reaction point or with one
// notification point per flow. One line is one event or one expectation:
//
//	use dcqcn/sigcomm15 line=40Gbps rtt=8us byte_counter=0B
//	50us cnp                       also: 50us cnp 30 times every 1us
//	50us send 1048B
//	50us ack rtt=30us bytes=1000B hops=4 marked
//	50us loss
//	55us expect rate=7.5Gbps target=10Gbps alpha=0.99609375 window=8KB [within 1e-3]
//	notify interval=50us
//	10us ce flow1 -> cnp           or: -> nothing
//
// Without "within" an expectation holds to a relative 1e-9. Text after # is comment.
type script struct {
	rp    ReactionPoint
	now   sim.Time
	every sim.Duration
	flows map[string]*NotificationPoint
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			s := &script{}
			expectations := 0
			for i, line := range strings.Split(string(text), "\n") {
				line, _, _ = strings.Cut(line, "#")
				words := strings.Fields(line)
				if len(words) == 0 {
					continue
				}
				if strings.Contains(line, "expect") || strings.Contains(line, "->") {
					expectations++
				}
				if err := s.do(words); err != nil {
					t.Fatalf("%s:%d: %s: %v", file, i+1, strings.TrimSpace(line), err)
				}
			}
			require.Positive(t, expectations, "a script that expects nothing cannot fail")
		})
	}
}

func (s *script) do(w []string) error {
	switch w[0] {
	case "use":
		s.now = 0
		return s.use(w[1:])
	case "notify":
		s.now, s.flows = 0, map[string]*NotificationPoint{}
		return parse(strings.TrimPrefix(w[1], "interval="), &s.every)
	}
	var d sim.Duration
	if err := parse(w[0], &d); err != nil {
		return err
	}
	if sim.Time(d) < s.now {
		return fmt.Errorf("time runs backwards")
	}
	s.now = sim.Time(d)
	switch verb, rest := w[1], w[2:]; verb {
	case "cnp":
		return s.train(rest, func() { s.rp.OnCNP(s.now) })
	case "loss":
		s.rp.OnLoss(s.now)
		return nil
	case "send":
		var n sim.Bytes
		if err := parse(rest[0], &n); err != nil {
			return err
		}
		return s.train(rest[1:], func() { s.rp.OnSend(s.now, n) })
	case "ack":
		return s.ack(rest)
	case "expect":
		return s.expect(rest)
	case "ce":
		return s.ce(rest)
	default:
		return fmt.Errorf("unknown event %q", verb)
	}
}

// train repeats f as "N times every D" says, once without.
func (s *script) train(w []string, f func()) error {
	if len(w) == 0 {
		f()
		return nil
	}
	var d sim.Duration
	n, err := strconv.Atoi(w[0])
	if err != nil || len(w) != 4 {
		return fmt.Errorf("want: N times every D")
	}
	if err := parse(w[3], &d); err != nil {
		return err
	}
	for i := range n {
		if i > 0 {
			s.now = s.now.Add(d)
		}
		f()
	}
	return nil
}

func (s *script) use(w []string) error {
	name, preset, _ := strings.Cut(w[0], "/")
	e, err := Algorithms.Lookup(name)
	if err != nil {
		return err
	}
	params := e.Defaults
	if preset != "" {
		if params = e.Presets[preset]; params == nil {
			return fmt.Errorf("no preset %q", preset)
		}
	}
	var line sim.Rate
	var rtt sim.Duration
	p := reflect.New(reflect.TypeOf(params))
	p.Elem().Set(reflect.ValueOf(params))
	for _, kv := range w[1:] {
		key, value, _ := strings.Cut(kv, "=")
		switch key {
		case "line":
			err = parse(value, &line)
		case "rtt":
			err = parse(value, &rtt)
		default:
			err = setKey(p.Elem(), key, value)
		}
		if err != nil {
			return err
		}
	}
	a, err := e.Build(p.Elem().Interface())
	if err != nil {
		return err
	}
	s.rp = a.NewReactionPoint(line, rtt)
	return nil
}

// setKey sets the field of a parameter struct whose key tag matches.
func setKey(v reflect.Value, key, text string) error {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("key") == key {
			return parse(text, v.Field(i).Addr().Interface())
		}
	}
	return fmt.Errorf("no key %q", key)
}

func parse(text string, into any) error {
	if u, ok := into.(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	v := reflect.ValueOf(into).Elem()
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		return nil
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return err
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		return err
	}
}

func (s *script) ack(w []string) error {
	var a Ack
	for i, kv := range w {
		key, value, _ := strings.Cut(kv, "=")
		var err error
		switch key {
		case "rtt":
			err = parse(value, &a.RTT)
		case "bytes":
			err = parse(value, &a.Bytes)
		case "hops":
			err = parse(value, &a.Hops)
		case "marked":
			a.Marked = true
		default:
			return s.train(w[i:], func() { s.rp.OnAck(s.now, a) })
		}
		if err != nil {
			return err
		}
	}
	s.rp.OnAck(s.now, a)
	return nil
}

func (s *script) expect(w []string) error {
	tol := 1e-9
	if n := len(w); n > 2 && w[n-2] == "within" {
		var err error
		if tol, err = strconv.ParseFloat(w[n-1], 64); err != nil {
			return err
		}
		w = w[:n-2]
	}
	got := map[string]float64{"rate": float64(s.rp.Rate(s.now)), "window": float64(s.rp.Window(s.now))}
	if o, ok := s.rp.(Observer); ok {
		o.Observe(s.now, func(name string, v float64) {
			if name != "rate" {
				got[name] = v
			}
		})
	}
	for _, kv := range w {
		key, text, _ := strings.Cut(kv, "=")
		want, err := quantity(text)
		if err != nil {
			return err
		}
		have, ok := got[key]
		if !ok {
			return fmt.Errorf("no quantity %q", key)
		}
		if math.Abs(have-want) > tol*math.Abs(want) {
			return fmt.Errorf("%s is %v, want %v", key, have, want)
		}
	}
	return nil
}

func quantity(text string) (float64, error) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, nil
	}
	if r, err := sim.ParseRate(text); err == nil {
		return float64(r), nil
	}
	b, err := sim.ParseBytes(text)
	return float64(b), err
}

func (s *script) ce(w []string) error {
	np := s.flows[w[0]]
	if np == nil {
		np = &NotificationPoint{Interval: s.every}
		s.flows[w[0]] = np
	}
	got := "nothing"
	if np.OnMarked(s.now) {
		got = "cnp"
	}
	if got != w[2] {
		return fmt.Errorf("answered by %s", got)
	}
	return nil
}
