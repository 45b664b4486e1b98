package validation

import (
	"embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"rdmasim/sim/trace"
)

// The SONiC switch on which S1 is repeated: a Tomahawk3 with the buffers, maps
// and schedulers of a ToR, and what each test changes of it, as an operator
// loads a piece of config_db.json before the test.
//
//go:embed sonic/*.json
var sonicFiles embed.FS

// sonicBase is the configuration that the pieces are laid over.
const sonicBase = "t0.json"

// importedTest is how a test of S1 runs on the imported switch.
type importedTest struct {
	// keys are those of the switch that no file of SONiC has.
	keys string
	// settings change what depends on the switch: DSCPs that its map knows, and
	// figures that count its cells.
	settings []string
}

// imported are the tests by file. Stock SONiC has DSCP 26 in a lossy class, so
// that hosts mark their data with 3. Tests whose packets are not ECN-capable have
// WRED switched off in their piece: it would drop them.
var imported = map[string]importedTest{
	// Frames of 1082 bytes take five cells of 254; 40 or more of them behind a frame are more than 50 KB.
	"switch-dequeue-ecn.yaml":        {keys: "pfc: {response: 0s}", settings: []string{"nic.dscp=3", "expect.1=sum(counters.ecn_eligible, object=sw0:0/q3) == 101", "expect.2=sum(counters.ecn_marked, object=sw0:0/q3) == 61"}},
	"switch-red-accuracy.yaml":       {keys: "pfc: {response: 0s}", settings: []string{"nic.dscp=3"}},
	"switch-ecn-two-priorities.yaml": {},
	"switch-pfc-lossless.yaml":       {},
	"switch-global-pause.yaml":       {settings: []string{"nic.dscp=3"}},
	"switch-watchdog.yaml":           {},
	"switch-watchdog-burst.yaml":     {settings: []string{"nic.dscp=3", "faults.0.pause_storm.priorities=[3]"}},
	"switch-many-to-one.yaml":        {},
	"switch-mixed-speed.yaml":        {},
	"switch-roce-1to1.yaml":          {settings: []string{"nic.dscp=3"}},
	"switch-roce-nto1.yaml":          {},
}

// onSonic returns the settings that put an imported SONiC switch in the place
// of the switch of a test. Its files are beside the run directories of the row.
func (b *Bench) onSonic(file string) ([]string, error) {
	list := []string{sonicBase}
	if piece := strings.TrimSuffix(file, ".yaml") + ".json"; sonicPiece(piece) {
		list = append(list, piece)
	}
	dir := filepath.Join(b.dir, b.id, "sonic")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for i, name := range list {
		text, err := sonicFiles.ReadFile("sonic/" + name)
		if err != nil {
			return nil, err
		}
		list[i] = filepath.Join(dir, name)
		if err := os.WriteFile(list[i], text, 0o666); err != nil {
			return nil, err
		}
		list[i] = fmt.Sprintf("%q", list[i])
	}
	t := imported[file]
	keys := "sonic: {files: [" + strings.Join(list, ", ") + "]}"
	if t.keys != "" {
		keys += ", " + t.keys
	}
	return append([]string{"switch={" + keys + "}"}, t.settings...), nil
}

// sonicPiece reports whether a test changes anything of the switch.
func sonicPiece(name string) bool {
	_, err := sonicFiles.Open("sonic/" + name)
	return err == nil
}

// measureImported runs every test on the imported switch.
func measureImported(b *Bench) error {
	for _, file := range switchTests {
		settings, err := b.onSonic(file)
		if err != nil {
			return err
		}
		if err := b.switchTest(file, onImported, settings...); err != nil {
			return err
		}
	}
	for _, more := range []func(*Bench) error{importedRED, importedTwoPriorities, importedShortStorm} {
		if err := more(b); err != nil {
			return err
		}
	}
	return nil
}

// onImported marks the checks on that switch.
const onImported = "imported SONiC switch"

// importedRED repeats the test of RED and counts the marks of all rounds.
func importedRED(b *Bench) error {
	rounds := [...]int{Short: 20, Quick: 200, Full: 1000}[b.Level]
	var list []string
	for k := range rounds {
		list = append(list, fmt.Sprintf("{from: h1, to: h0, size: 913640B, at: %dus}", 10+200*k))
	}
	const file, frames = "switch-red-accuracy.yaml", 910
	settings, err := b.onSonic(file)
	if err != nil {
		return err
	}
	o, err := b.Run(file, append(settings, "traffic.0.flows.list=["+strings.Join(list, ", ")+"]")...)
	if err != nil {
		return err
	}
	defer o.Discard()
	// The imported switch counts whole cells of 254 bytes, in frames and in thresholds.
	const size, kmin, kmax = 5 * 254.0, 1968 * 254.0, 3543 * 254.0
	mean, variance, sure := 0.0, 0.0, 0.0
	for i := range frames {
		q := float64(frames-1-i) * size
		switch p := (q - kmin) / (kmax - kmin) * 0.05; {
		case q > kmax:
			sure++
		case p > 0:
			mean += p
			variance += p * (1 - p)
		}
	}
	n := float64(rounds)
	marked := o.Of("sw0:0/q3", trace.CountECNMarked)
	b.Off(fmt.Sprintf("%s, RED accuracy: marks in %d rounds of %d frames", onImported, rounds, frames), n*(sure+mean), one(marked), 4*math.Sqrt(n*variance), "", "(q - Kmin)/(Kmax - Kmin) Pmax; four standard deviations")
	return nil
}

// importedTwoPriorities tries the pairs of rates of the ECN test.
func importedTwoPriorities(b *Bench) error {
	const file, source = "switch-ecn-two-priorities.yaml", "sonic-mgmt test plan"
	for _, c := range []struct {
		a, b  int // percent of the line rate
		level Level
	}{{90, 15, Short}, {53, 49, Short}, {49, 49, Short}, {50, 50, Quick}, {60, 60, Quick}, {60, 90, Short}} {
		if c.level > b.Level {
			continue
		}
		settings, err := b.onSonic(file)
		if err != nil {
			return err
		}
		o, err := b.Run(file, append(settings, fmt.Sprintf("nic.congestion.none.rate=%dGbps", c.a), fmt.Sprintf("nics.0.congestion.none.rate=%dGbps", c.b))...)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%s, ECN of two priorities, %d %% and %d %%: ", onImported, c.a, c.b)
		one3, one4 := o.Of("sw0:0/q3", trace.CountECNMarked), o.Of("sw0:0/q4", trace.CountECNMarked)
		b.Exact(what+"drops", 0, o.Sum(trace.CountDropLossless)+o.Sum(trace.CountDropLossy), source)
		full := c.a+c.b > 100
		b.Exact(what+"the first is marked", full && c.a > 50, one3 > 0, source)
		b.Exact(what+"the second is marked", full && c.b > 50, one4 > 0, source)
		if full && c.a > 50 && c.b > 50 && c.a != c.b {
			b.Within(what+"marks of the larger less those of the smaller", 1, inf, one(math.Copysign(1, float64(c.a-c.b))*(one3-one4)), "", source)
		}
		o.Discard()
	}
	return nil
}

// importedShortStorm is the second half of the watchdog test: a storm of half of
// the detection time costs nothing.
func importedShortStorm(b *Bench) error {
	if b.Level == Short {
		return nil
	}
	const file = "switch-watchdog.yaml"
	settings, err := b.onSonic(file)
	if err != nil {
		return err
	}
	return b.switchTest(file, onImported, append(settings, "faults.0.pause_storm.to=350ms",
		"expect=[watchdog.storms == 0, packets.dropped.watchdog == 0, packets.dropped.lossless == 0, packets.retransmitted == 0]")...)
}
