package hardware

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rdmasim/fabric/netem"
	"rdmasim/scenarios"
	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// AcceptanceOptions say what is tested.
type AcceptanceOptions struct {
	From, To   string                 // devices of this machine; "" = the first two
	Out        string                 // folder of the report and of the runs
	Profile    netem.Profile          // what the fabric means to be
	Count      int                    // pings per size, and messages per run
	MaxP99     sim.Duration           // of a round trip of 64 bytes; 0 = not judged
	MinGoodput sim.Rate               // under load; 0 = not judged
	Version    string                 // of the program
	Log        io.Writer              // gets every command that changes the host
	Draw       func(dir string) error // draws the report of a run; nil = none
}

// Verdict of a step of an acceptance test.
type Verdict string

// Verdicts.
const (
	Pass    Verdict = "pass"
	Warn    Verdict = "warning"
	Fail    Verdict = "FAIL"
	Skipped Verdict = "skipped"
)

// Step is one part of an acceptance test and what it found.
type Step struct {
	Name    string   `json:"name"`
	Verdict Verdict  `json:"verdict"`
	Text    []string `json:"text"`
	Run     string   `json:"run,omitempty"` // run directory, below the folder of the report
}

// Acceptance is the whole of it.
type Acceptance struct {
	Verdict Verdict         `json:"verdict"`
	From    string          `json:"from"`
	To      string          `json:"to"`
	Profile netem.Profile   `json:"profile"`
	Host    trace.Host      `json:"host"`
	Version string          `json:"version"`
	Steps   []Step          `json:"steps"`
	Ping    []PingResult    `json:"ping"`
	Doctor  []netem.Finding `json:"doctor"`
	Drawn   bool            `json:"-"` // the steps have reports
}

// Accept tests two devices of this machine: the host's settings, the latency
// without load, load with the cost of it in processor time, then faults, and
// leaves acceptance.json beside the run directories. Only what cannot be tried at
// all is an error; what fails is in the result.
func Accept(ctx context.Context, o AcceptanceOptions) (*Acceptance, error) {
	devices, err := netem.ReadDevices("/")
	if err != nil {
		return nil, err
	}
	var given []string
	if o.From != "" {
		given = []string{"from=" + o.From, "to=" + o.To}
	}
	of, err := assign([]string{"from", "to"}, devices, given)
	if err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	from, to := &devices[of[0]], &devices[of[1]]
	if from == to {
		return nil, &scenarios.InputError{Err: fmt.Errorf("%s at both ends: it would loop the packets back inside", from.Name)}
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, &scenarios.InputError{Err: err}
	}
	a := &acceptance{o: o, from: from, to: to, out: &Acceptance{From: from.Name, To: to.Name, Profile: o.Profile, Host: trace.ThisHost(), Version: o.Version, Drawn: o.Draw != nil}}
	for _, step := range []func(context.Context) Step{a.doctor, a.latency, a.load, a.notReady, a.loss, a.blocked} {
		s := step(ctx)
		if ctx.Err() != nil {
			s.Verdict, s.Text = Fail, append(s.Text, "interrupted")
		}
		a.out.Steps = append(a.out.Steps, s)
		if ctx.Err() != nil {
			break
		}
	}
	a.out.Verdict = Pass
	for _, s := range a.out.Steps {
		switch {
		case s.Verdict == Fail:
			a.out.Verdict = Fail
		case s.Verdict == Warn && a.out.Verdict == Pass:
			a.out.Verdict = Warn
		}
	}
	b, err := json.MarshalIndent(a.out, "", "  ")
	if err != nil {
		return a.out, err
	}
	return a.out, errors.Join(os.WriteFile(filepath.Join(o.Out, "acceptance.json"), append(b, '\n'), 0o644), a.out.writePage(filepath.Join(o.Out, "index.html")))
}

type acceptance struct {
	o        AcceptanceOptions
	from, to *netem.Device
	out      *Acceptance
}

// doctor fails on errors and warns of warnings.
func (a *acceptance) doctor(ctx context.Context) Step {
	s := Step{Name: "settings of the host", Verdict: Pass}
	list, err := netem.Doctor(ctx, netem.DoctorOptions{Root: "/", Profile: a.o.Profile, Runner: netem.Exec{}})
	if err != nil {
		return Step{Name: s.Name, Verdict: Fail, Text: []string{err.Error()}}
	}
	a.out.Doctor = list
	counts := map[netem.Severity]int{}
	for i := range list {
		f := &list[i]
		counts[f.Severity]++
		switch f.Severity {
		case netem.Fault:
			s.Verdict = Fail
		case netem.Warning:
			if s.Verdict == Pass {
				s.Verdict = Warn
			}
		default:
			continue
		}
		s.Text = append(s.Text, fmt.Sprintf("%s: %s: %s -> %s", f.Severity, f.Where, f.What, f.Remedy))
	}
	s.Text = append(s.Text, fmt.Sprintf("%d findings are ok, %d cannot be told, %d are warnings, %d errors", counts[netem.Good], counts[netem.Unknown], counts[netem.Warning], counts[netem.Fault]))
	return s
}

// latency pings without load.
func (a *acceptance) latency(ctx context.Context) Step {
	s := Step{Name: "latency without load", Verdict: Pass}
	r, err := Ping(ctx, PingOptions{From: a.from.Name, To: a.to.Name, Service: verbs.RC, Sizes: []sim.Bytes{64, 4096}, Count: a.o.Count, Warmup: 10})
	if err != nil {
		return Step{Name: s.Name, Verdict: Fail, Text: []string{err.Error()}}
	}
	a.out.Ping = r
	for i := range r {
		t := &r[i].RoundTrip
		s.Text = append(s.Text, fmt.Sprintf("round trip of %v: median %s, 99th percentile %s, longest %s (%d pings); posting takes %s, a poll %s", r[i].Size,
			brief(t.P50), brief(t.P99), brief(t.Max), r[i].Count, brief(r[i].Post.P50), brief(r[i].Poll.P50)))
	}
	if a.o.MaxP99 > 0 && r[0].RoundTrip.P99 > a.o.MaxP99.Seconds() {
		s.Verdict = Fail
		s.Text = append(s.Text, fmt.Sprintf("the 99th percentile is above %v", a.o.MaxP99))
	}
	return s
}

// brief prints a time of seconds.
func brief(v float64) string {
	return time.Duration(v * float64(time.Second)).Round(10 * time.Nanosecond).String()
}

// run executes a scenario of the test and returns its run directory.
func (a *acceptance) run(ctx context.Context, s *Step, name, traffic, nic, faults string) (*trace.Run, *scenarios.Result, bool) {
	text := fmt.Sprintf("name: %s\nduration: until_done\nmax_duration: 120s\ntopology: {star: {hosts: 2, rate: 100Gbps}}\nnic: {congestion: none, %s}\ntraffic:\n  - %s\n%s\n", name, nic, traffic, faults)
	s.Run = name
	fail := func(err error) (*trace.Run, *scenarios.Result, bool) {
		s.Verdict, s.Text = Fail, append(s.Text, err.Error())
		return nil, nil, false
	}
	spec, err := scenarios.Parse(name, []byte(text))
	if err != nil {
		return fail(err)
	}
	dir := filepath.Join(a.o.Out, name)
	res, err := Run(ctx, spec, Options{Out: dir, Devices: []string{"h0=" + a.from.Name, "h1=" + a.to.Name}, Version: a.o.Version, Log: a.o.Log})
	if err != nil {
		s.Run = ""
		return fail(err)
	}
	run, err := trace.Open(dir)
	if err != nil {
		return fail(err)
	}
	if a.o.Draw != nil {
		if err := a.o.Draw(dir); err != nil {
			return fail(err)
		}
	}
	return run, res, true
}

// outcome counts the messages of a run by status, and their payload.
func outcome(run *trace.Run) (byStatus map[string]int, delivered sim.Bytes, err error) {
	byStatus = map[string]int{}
	for f, err := range run.Flows() {
		if err != nil {
			return nil, 0, err
		}
		byStatus[f.Status]++
		delivered += f.Delivered
	}
	return byStatus, delivered, nil
}

// allArrived requires that every message has ended with success.
func (s *Step) allArrived(run *trace.Run) (delivered sim.Bytes) {
	byStatus, delivered, err := outcome(run)
	if err != nil {
		s.Verdict, s.Text = Fail, append(s.Text, err.Error())
		return 0
	}
	ok := byStatus[trace.StatusSuccess]
	total := 0
	var bad []string
	for status, n := range byStatus {
		total += n
		if status != trace.StatusSuccess {
			bad = append(bad, fmt.Sprintf("%d %s", n, status))
		}
	}
	slices.Sort(bad)
	s.Text = append(s.Text, fmt.Sprintf("%d of %d messages arrived", ok, total))
	if ok < total || total == 0 {
		s.Verdict, s.Text = Fail, append(s.Text, strings.Join(bad, ", "))
	}
	return delivered
}

// sums adds counters by name.
func sums(run *trace.Run) map[string]float64 {
	list, err := run.Counters()
	if err != nil {
		return nil
	}
	sum := map[string]float64{}
	for _, c := range list {
		sum[c.Name] += c.Value
	}
	return sum
}

// judge adds the checks of a run.
func (s *Step) judge(run *trace.Run) {
	list, err := run.Checks()
	if err != nil {
		s.Verdict, s.Text = Fail, append(s.Text, err.Error())
		return
	}
	for _, c := range list {
		if !c.OK {
			s.Verdict = Fail
		}
		s.Text = append(s.Text, verdict(c)+": "+c.Text)
	}
}

// load writes as fast as the devices can, and says what that costs.
func (a *acceptance) load(ctx context.Context) Step {
	s := Step{Name: "load", Verdict: Pass}
	run, res, ok := a.run(ctx, &s, "load", fmt.Sprintf("perftest: {verb: write, sizes: 64KB, depth: 16, iterations: %d}", max(a.o.Count, 16)), "timeout: 18", "")
	if !ok {
		return s
	}
	bytes := s.allArrived(run)
	c := sums(run)
	bps := float64(bytes) * 8 / res.End.Seconds()
	s.Text = append(s.Text, fmt.Sprintf("%.3g Gbit/s of payload", bps/1e9))
	if a.o.MinGoodput > 0 && bps < float64(a.o.MinGoodput) {
		s.Verdict, s.Text = Fail, append(s.Text, fmt.Sprintf("that is below %v", a.o.MinGoodput))
	}
	for _, k := range []struct{ name, what string }{{"cpu_task_clock_ns", "ns of processor time"}, {"cpu_cycles", "cycles"}, {"cpu_instructions", "instructions"}, {"cpu_cache_misses", "cache misses"}} {
		if v, ok := c[k.name]; ok && bytes > 0 {
			s.Text = append(s.Text, fmt.Sprintf("%.3g %s per KB of this process", v*1000/float64(bytes), k.what))
		} else if !ok {
			s.Text = append(s.Text, k.what+": not measured")
		}
	}
	if n := c[trace.CountOutOfSequence]; n > 0 {
		if s.Verdict == Pass {
			s.Verdict = Warn
		}
		s.Text = append(s.Text, fmt.Sprintf("%.0f gaps in sequence numbers without any fault: something on the path loses packets", n))
	}
	return s
}

// notReady posts receives late, which every device can.
func (a *acceptance) notReady(ctx context.Context) Step {
	s := Step{Name: "receiver not ready", Verdict: Pass}
	run, _, ok := a.run(ctx, &s, "not-ready", "perftest: {verb: send, sizes: 1KB, depth: 2, iterations: 20}", "timeout: 18", "faults: [late_receives: {host: h0, delay: 5ms}]")
	if ok {
		s.allArrived(run)
		s.judge(run)
	}
	return s
}

// bypass says why a fault cannot be tried, "" if it can.
func (a *acceptance) bypass() string {
	for _, d := range []*netem.Device{a.from, a.to} {
		if d.Offloaded() {
			return d.Name + " bypasses the kernel's queues: try it with rdmasim hw bridge on a third machine"
		}
	}
	return ""
}

// loss loses one packet in a hundred.
func (a *acceptance) loss(ctx context.Context) Step {
	s := Step{Name: "loss of 1 %", Verdict: Pass}
	if why := a.bypass(); why != "" {
		return Step{Name: s.Name, Verdict: Skipped, Text: []string{why}}
	}
	run, _, ok := a.run(ctx, &s, "loss", "perftest: {verb: write, sizes: 64KB, depth: 4, iterations: 20}", "timeout: 14, retry_count: 6", `faults: [loss: {link: "*", every: 100}]`)
	if ok {
		s.allArrived(run)
		s.judge(run)
	}
	return s
}

// blocked lets nothing pass, so that the queue pair has to give up in time.
func (a *acceptance) blocked(ctx context.Context) Step {
	s := Step{Name: "nothing passes", Verdict: Pass}
	if why := a.bypass(); why != "" {
		return Step{Name: s.Name, Verdict: Skipped, Text: []string{why}}
	}
	run, _, ok := a.run(ctx, &s, "blocked", "perftest: {verb: write, sizes: 4KB, depth: 1, iterations: 1}", "timeout: 14, retry_count: 3", `faults: [udp_blocked: {link: "*"}]`)
	if !ok {
		return s
	}
	byStatus, _, err := outcome(run)
	if err != nil || byStatus[verbs.StatusRetryExceeded.String()] != 1 {
		s.Verdict, s.Text = Fail, append(s.Text, fmt.Sprintf("want one IBV_WC_RETRY_EXC_ERR, got %v", byStatus))
	}
	s.judge(run)
	return s
}
