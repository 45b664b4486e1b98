package page

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rdmasim/reports/figure"
	"rdmasim/reports/metric"
	"rdmasim/reports/tuning"
	"rdmasim/sim/trace"
)

//go:embed tune.html
var tuneText string

//go:embed parts.html
var partsText string

var tuneTemplate = template.Must(template.Must(template.New("tune").Parse(partsText)).Parse(tuneText))

// IsTune reports whether a directory is that of a search for settings.
func IsTune(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, tuning.FileResult))
	return err == nil
}

// WriteTune reads the directory of a search for settings and writes dir/report:
// index.html and each figure as SVG and PNG. It draws what is there: without
// run directories no time series, without exports no commands. Counters of today
// that refute the model take the recommendation away.
func WriteTune(dir string) error {
	list, html, err := renderTune(dir)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, Dir)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for i := range list {
		if err := WriteFigure(out, &list[i].Figure); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "index.html"), html, 0o644)
}

// renderTune draws figures and page of a search and writes nothing.
func renderTune(dir string) ([]figure.TunePlaced, []byte, error) {
	s, err := loadTune(dir)
	if err != nil {
		return nil, nil, err
	}
	list, err := figure.DrawSearch(&s.Search)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if err := tuneTemplate.Execute(&b, newTuneView(s, list)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return list, b.Bytes(), nil
}

// search is a directory as its page needs it.
type search struct {
	figure.Search
	gate    *tuning.Credibility
	looked  *metric.Metrics // of the run that the closed forms are about: runs/best, without a winner runs/today
	exports []export
	runs    []file // pages of runs
}

// refuted reports whether today's counters contradict the model.
func (s *search) refuted() bool { return s.gate != nil && !s.gate.Credible }

func loadTune(dir string) (*search, error) {
	r, err := tuning.Load(dir)
	if err != nil {
		return nil, err
	}
	s := &search{Search: figure.Search{Result: r}}
	if s.Estimates, err = tuning.LoadEstimates(dir); err != nil {
		return nil, err
	}
	if s.gate, err = tuning.LoadCredibility(dir); err != nil {
		return nil, err
	}
	if s.refuted() && r.Winner != nil {
		r.Winner, r.NoWinner = nil, "Today's counters and the simulated today are not of one network: what is best in the model says nothing of yours."
	}
	if s.Estimates != nil && r.Winner == nil {
		for i := range s.Estimates.Margins {
			if m := &s.Estimates.Margins[i]; m.Setting == tuning.SettingRecommended {
				m.Setting = "best of the search"
			}
		}
	}
	for _, name := range []string{tuning.RunBest, tuning.RunToday, tuning.RunWorst} {
		run := filepath.Join(dir, tuning.DirRuns, name)
		if _, err := os.Stat(filepath.Join(run, trace.FileManifest)); err != nil {
			continue
		}
		loaded, err := figure.Load(run)
		if err != nil {
			return nil, err
		}
		s.Runs = append(s.Runs, figure.NewDigest(loaded, name))
		if (name == tuning.RunToday) == (r.Winner == nil) && name != tuning.RunWorst {
			s.looked = loaded.Metrics
		}
		link := file{Name: tuning.DirRuns + "/" + name + "/" + trace.FileManifest, What: name}
		if _, err := os.Stat(filepath.Join(run, Dir, "index.html")); err == nil {
			link.Name = tuning.DirRuns + "/" + name + "/" + Dir + "/index.html"
		}
		s.runs = append(s.runs, link)
	}
	if !s.refuted() {
		s.exports, err = readExports(filepath.Join(dir, tuning.DirExport))
	}
	return s, err
}

// export is a configuration or its rollback as text.
type export struct {
	Name, Text string
	Cut        bool
}

// Limits of what a page repeats of exports.
const (
	maxExports    = 60
	maxExportText = 64 << 10
)

// readExports reads the files of a directory in order of their names; a
// directory that does not exist has none.
func readExports(dir string) ([]export, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []export
	for _, e := range entries {
		if !e.Type().IsRegular() || len(out) == maxExports {
			continue
		}
		p, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		x := export{Name: e.Name()}
		if len(p) > maxExportText {
			p, x.Cut = p[:maxExportText], true
		}
		x.Text = strings.ToValidUTF8(string(p), "\uFFFD")
		out = append(out, x)
	}
	return out, nil
}

// tuneView is what the template sees.
type tuneView struct {
	Style       template.CSS
	Name        string
	Description []paragraph
	Winner      bool
	Refuted     bool
	Partial     bool
	Answer      []Paragraph
	Values      figure.Table
	Tiles       []Tile
	Gate        *gateView
	Sections    []section
	Watch       figure.Table
	Exports     []export
	FirstLook   *estimateView
	Repro       []definition
	Command     string
	Stages      figure.Table
	Runs        []file
	Files       []file
	Definitions []definition
}

func newTuneView(s *search, list []figure.TunePlaced) *tuneView {
	v := &tuneView{Style: Style(), Name: s.Name, Description: paragraphs(s.Description), Winner: s.Winner != nil, Refuted: s.refuted(), Partial: s.Partial,
		Answer: tuneAnswer(s), Values: tuneValues(s), Tiles: tuneTiles(s), Gate: newGateView(s.gate), Watch: watchTable(s), Exports: s.exports,
		FirstLook: newEstimateView(s.Estimates, s.looked), Repro: tuneRepro(s), Command: s.Repro.Command, Stages: stageTable(s), Runs: s.runs, Definitions: tuneDefinitions()}
	for _, p := range list {
		name := p.Section.String()
		if n := len(v.Sections); n == 0 || v.Sections[n-1].Name != name {
			v.Sections = append(v.Sections, section{ID: tuneAnchor(name), Name: name})
		}
		sec := &v.Sections[len(v.Sections)-1]
		if len(p.Panels) == 0 {
			sec.Missing = append(sec.Missing, missing{p.Title, p.Empty})
			continue
		}
		f := View(&p.Figure)
		f.Open = p.Name == "baselines"
		sec.Figures = append(sec.Figures, f)
	}
	for _, f := range []file{{tuning.FileResult, "every point that was evaluated"}, {tuning.FileEstimate, "the closed forms"}, {tuning.FileCredibility, "today's counters beside the simulated ones"}} {
		if f.Name == tuning.FileResult || f.Name == tuning.FileEstimate && s.Estimates != nil || f.Name == tuning.FileCredibility && s.gate != nil {
			v.Files = append(v.Files, f)
		}
	}
	return v
}

func tuneAnchor(s string) string { return anchor(strings.ReplaceAll(s, ",", "")) }

// stageTable says what the search ran.
func stageTable(s *search) figure.Table {
	t := figure.Table{Head: []string{"stage", "points", "workloads", "seeds", "runs"}}
	for _, x := range s.Plan.Stages {
		t.Rows = append(t.Rows, []string{x.Name, figure.Whole(x.Points), figure.Whole(x.Workloads), figure.Whole(x.Seeds), figure.Whole(x.Runs)})
	}
	return t
}

// watchTable lists what to look at after the change.
func watchTable(s *search) figure.Table {
	t := figure.Table{Head: []string{"counter", "workload", "expected", "today"}}
	for i := range s.Watch {
		w := &s.Watch[i]
		name := w.Metric
		if w.Counter != "" {
			name = w.Counter + " (" + w.Metric + ")"
		}
		per := ""
		if w.Per != "" {
			per = " per " + w.Per
		}
		show := func(v *float64) string {
			if v == nil {
				return notMeasured
			}
			return figure.Quantity(*v, w.Unit) + per
		}
		expected := notMeasured
		if w.Low != nil && w.High != nil {
			expected = figure.Quantity(*w.Low, w.Unit) + " to " + figure.Quantity(*w.High, w.Unit) + per
		}
		load := w.Workload
		if load == "" {
			load = "all"
		}
		t.Rows = append(t.Rows, []string{name, load, expected, show(w.Today)})
	}
	return t
}

// tuneRepro is what is needed to get the same results again.
func tuneRepro(s *search) []definition {
	list := []definition{
		{"Scenario", s.Scenario},
		{"Hash of the scenario", s.Repro.ScenarioHash},
		{"Hash of the plan", s.Repro.PlanHash},
		{"Hash of all results", s.Repro.ResultHash},
		{"Seeds of the search", seedList(s.Seeds)},
		{"Fresh seeds of the confirmation", seedList(s.ConfirmSeeds)},
		{"Seed of the search", fmt.Sprint(s.Repro.Seed)},
		{"Search", s.Plan.Search},
		{"Ranked by", map[string]string{tuning.MinimaxRegret: "the worst regret over workloads", tuning.Weighted: "the weighted mean over workloads", tuning.WorstCase: "the largest cost over workloads", tuning.ParetoSet: "nothing: the Pareto set is the answer"}[s.Plan.Criterion]},
		{"Runs", budgetWords(s)},
	}
	names := make([]string, 0, len(s.Repro.Versions))
	for n := range s.Repro.Versions {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		list = append(list, definition{"Version of " + n, s.Repro.Versions[n]})
	}
	return list
}

// seedList prints seeds.
func seedList(list []uint64) string {
	text := make([]string, len(list))
	for i, x := range list {
		text[i] = fmt.Sprint(x)
	}
	return strings.Join(text, " ")
}

func budgetWords(s *search) string {
	text := figure.Count(s.Budget.RunsDone, "run")
	if s.Budget.Runs > 0 {
		text += " of " + figure.Whole(s.Budget.Runs) + " allowed"
	}
	if s.Budget.Time != "" {
		text += ", within " + s.Budget.Time
	}
	if s.Budget.Simulated > 0 {
		text += "; " + figure.Seconds(s.Budget.Simulated) + " simulated"
	}
	if s.Budget.Exhausted {
		text += "; the search ended for want of more"
	}
	return text
}

func tuneDefinitions() []definition {
	return []definition{
		{"Same seeds", "Every point meets the same traffic: what chance does to one it does to all, so that differences are less uncertain than what they are taken of."},
		{"95 % interval", "Student's t over seeds; of a difference, over the differences of each seed."},
		{"Regret", "How much worse a point is under a workload than the best that was found for that workload."},
		{"Feasible", "All constraints hold in every run."},
		{"Pareto front", "Points that no other feasible point beats in one objective without losing in another; the knee is where both give in most for what they give."},
		{"Expected", "The range that holds one more observation in 95 % of cases if the model is right."},
		{"Port-priority seconds", "Paused time added up over all ports and priorities."},
	}
}
