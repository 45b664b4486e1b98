package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The law of imports: section "The law of imports" of ARCHITECTURE.md as a
// test. Every package is named here with what it may import of this module and
// why it may not import more; a package that is not named fails.

const module = "rdmasim"

// article is the law for one package.
type article struct {
	pkg    string
	may    []string // packages of this module
	reason string   // said when it imports anything else of ours
	model  bool     // a model: no clock, file, environment, global random, goroutine
	edge   []string // files of a model package that are exempt, and why below
}

var (
	ground    = []string{"sim"}
	allModels = []string{"sim", "sim/trace", "sim/stat", "fabric", "fabric/packet", "fabric/ecmp", "fabric/topology", "congestion", "verbs", "verbs/simnic"}
)

const reportsReason = "reports are drawn from the run directory alone, so they never see a model"

var law = []article{
	{pkg: "sim", reason: "sim is the ground and imports nothing of ours", model: true, edge: []string{"workers.go"}}, // the engine's workers are goroutines
	{pkg: "sim/trace", may: ground, reason: "the run directory knows times and sizes, and no model"},
	{pkg: "sim/stat", may: ground, reason: "statistics know numbers, and no model", model: true},
	{pkg: "sim/simtest", may: []string{"sim", "sim/trace", "sim/stat"}, reason: "test helpers serve every package, so they import none but sim's"},

	{pkg: "fabric", may: []string{"sim", "sim/trace", "sim/stat", "fabric/packet", "fabric/ecmp"}, reason: "a switch sees frames and time; NICs, traffic and scenarios are above it", model: true},
	{pkg: "fabric/packet", may: ground, reason: "frames are leaf values", model: true},
	{pkg: "fabric/ecmp", may: []string{"sim", "fabric/packet"}, reason: "a hash of a frame's addresses is a function", model: true},
	{pkg: "fabric/topology", may: ground, reason: "a graph is data", model: true},
	{pkg: "fabric/capture", may: []string{"sim", "fabric/packet", "verbs"}, reason: "captures translate frames, nothing more"},
	{pkg: "fabric/capture/analysis", may: []string{"sim", "sim/trace", "sim/stat", "fabric/capture"}, reason: "what a capture tells comes from its frames, and not from a model of what sent them"},
	{pkg: "fabric/switchconf", may: ground, reason: "a switch configuration is data", model: true},
	{pkg: "fabric/netem", may: ground, reason: "a real host's queues know no simulated fabric"},

	{pkg: "congestion", may: ground, reason: "an algorithm sees rates, acks, marks and time: no packet, no queue pair, no fabric", model: true},
	{pkg: "congestion/fluid", may: []string{"sim", "congestion"}, reason: "closed forms judge the packet model, so they must not be made of it", model: true},

	{pkg: "verbs", may: ground, reason: "the RDMA contract holds on real NICs too, so it knows no fabric", model: true},
	{pkg: "verbs/simnic", may: []string{"sim", "sim/trace", "verbs", "fabric", "fabric/packet", "congestion"}, reason: "a NIC made of packets stands on the fabric and below the traffic", model: true},
	{pkg: "verbs/ibv", may: []string{"sim", "verbs"}, reason: "real hardware knows no simulated fabric"},
	{pkg: "verbs/verbstest", may: []string{"sim", "verbs"}, reason: "one contract for both worlds names neither"},

	{pkg: "scenarios", may: append([]string{"fabric/capture", "fabric/capture/analysis", "fabric/netem", "fabric/switchconf", "verbs/ibv", "scenarios/workload", "scenarios/fault", "scenarios/hpcc", "scenarios/library", "reports/metric"}, allModels...), reason: "scenarios build and run everything, and read results only through reports/metric"},
	{pkg: "scenarios/workload", may: []string{"sim", "verbs"}, reason: "traffic sees only verbs, so that it runs on both worlds", model: true},
	{pkg: "scenarios/fault", may: append([]string{"fabric/netem"}, allModels...), reason: "a fault reaches the fabric and its NICs, and not the scenario", model: true},
	{pkg: "scenarios/hpcc", may: []string{"sim", "fabric/ecmp"}, reason: "a foreign format is read into plain values and builds nothing", model: true},
	{pkg: "scenarios/library", reason: "the library is files"},
	{pkg: "scenarios/reference", may: []string{"sim", "sim/trace", "scenarios", "scenarios/hpcc", "reports/metric"}, reason: "a comparison runs scenarios, reads their metrics and the files of others"},
	{pkg: "scenarios/sweep", may: []string{"sim", "sim/stat", "sim/trace", "scenarios", "reports/metric"}, reason: "a sweep runs scenarios and reads their metrics"},
	{pkg: "scenarios/tune", may: []string{"sim", "sim/stat", "sim/trace", "scenarios", "scenarios/sweep", "reports/metric", "reports/tuning"}, reason: "tuning runs scenarios and reads their metrics"},

	{pkg: "scenarios/hardware", may: []string{"sim", "sim/trace", "fabric/topology", "verbs", "verbs/ibv", "fabric/netem", "fabric/capture", "scenarios", "scenarios/workload", "scenarios/fault"}, reason: "a run on real queue pairs builds no simulated fabric"},
	{pkg: "scenarios/calibrate", may: []string{"congestion", "sim", "sim/trace", "sim/stat", "scenarios"}, reason: "a fit simulates scenarios and reads run directories, whatever made them"},
	{pkg: "scenarios/hardware/guest", reason: "a machine to test on knows nothing of what is tested"},
	{pkg: "scenarios/validation", may: append([]string{"fabric/capture", "fabric/switchconf", "congestion/fluid", "scenarios", "scenarios/library", "reports/metric"}, allModels...), reason: "validation runs scenarios, reads their metrics, and compares with closed forms"},

	{pkg: "scenarios/closedform", may: []string{"sim", "congestion", "congestion/fluid", "scenarios", "reports/tuning"}, reason: "closed forms see a scenario, and not a run of it"},

	{pkg: "reports", may: []string{"sim", "sim/trace", "sim/stat", "reports/metric", "reports/figure", "reports/page"}, reason: reportsReason},
	{pkg: "reports/metric", may: []string{"sim", "sim/trace", "sim/stat"}, reason: reportsReason},
	{pkg: "reports/tuning", may: []string{"sim", "sim/trace", "sim/stat"}, reason: reportsReason},
	{pkg: "reports/credibility", may: []string{"sim", "sim/trace", "sim/stat", "reports/tuning"}, reason: reportsReason},
	{pkg: "reports/figure", may: []string{"sim", "sim/trace", "sim/stat", "reports/metric", "reports/tuning"}, reason: reportsReason},
	{pkg: "reports/page", may: []string{"sim", "sim/trace", "sim/stat", "reports/metric", "reports/figure", "reports/tuning"}, reason: reportsReason},
	{pkg: "reports/reporttest", may: []string{"sim", "sim/trace", "sim/stat", "reports/tuning"}, reason: reportsReason},

	{pkg: "cmd/rdmasim", may: append([]string{"scenarios/calibrate", "fabric/netem", "scenarios/hardware", "scenarios/hardware/guest", "scenarios", "scenarios/workload", "scenarios/fault", "scenarios/library", "scenarios/reference", "scenarios/sweep", "scenarios/tune", "scenarios/closedform", "scenarios/validation", "fabric/capture", "fabric/capture/analysis", "fabric/switchconf", "reports", "reports/metric", "reports/figure", "reports/page", "reports/tuning", "reports/credibility"}, allModels...), reason: "commands stand on scenarios and reports"},
}

// owners are the packages that alone may know a third-party module, by the
// prefix of its import path. A module that is not here may be imported by none.
var owners = map[string][]string{
	"go.yaml.in/yaml/v3":               {"scenarios"},
	"gonum.org/v1/plot":                {"reports/figure"},
	"gonum.org/v1/gonum":               {"scenarios/calibrate", "reports/figure", "congestion/fluid", "sim/stat", "scenarios/tune"},
	"github.com/google/gopacket":       {"fabric/capture"},
	"github.com/parquet-go/parquet-go": {"sim/trace"},
	"github.com/spf13/cobra":           {"cmd/rdmasim"},
	"github.com/spf13/pflag":           {"cmd/rdmasim"},
	"github.com/ebitengine/purego":     {"verbs/ibv"},
	"github.com/vishvananda/netlink":   {"fabric/netem"},
	"github.com/stretchr/testify":      {"sim/simtest", "verbs/verbstest"},
}

// worldly are standard packages that a model must not import.
var worldly = map[string]string{
	"time":         "a model has no wall clock: use sim.Time",
	"os":           "a model has no files and no environment: the scenario hands it what it needs",
	"os/signal":    "a model knows no process",
	"os/exec":      "a model knows no process",
	"syscall":      "a model knows no process",
	"io/ioutil":    "a model has no files",
	"net":          "a model knows no network but its own",
	"net/http":     "a model knows no network but its own",
	"math/rand":    "a model draws from a named stream: use sim.Rand",
	"math/rand/v2": "a model draws from a named stream: use sim.Rand",
	"crypto/rand":  "a model draws from a named stream: use sim.Rand",
	"sync":         "a model runs on one thread at a time",
	"sync/atomic":  "a model runs on one thread at a time",
	"log":          "a model tells what happened through sim/trace",
}

// exempt are imports that a model may have although they are worldly.
var exempt = map[string]string{
	"sim math/rand/v2":  "named streams are made of its PCG source",
	"sim sync/atomic":   "the engine hands windows to its workers",
	"verbs/simnic sync": "the bytes of packets pass between NICs that different workers run",
}

// lookup returns the article of a package.
func lookup(pkg string) (article, bool) {
	i := slices.IndexFunc(law, func(a article) bool { return a.pkg == pkg })
	if i < 0 {
		return article{}, false
	}
	return law[i], true
}

// judge returns what one file of a package does against the law.
func judge(pkg, name string, file *ast.File) []string {
	a, ok := lookup(pkg)
	if !ok {
		return []string{fmt.Sprintf("%s: a package that the law of imports does not name: say in ARCHITECTURE.md and law_test.go what it may import", pkg)}
	}
	test := strings.HasSuffix(name, "_test.go")
	var broken []string
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if why := judgeImport(a, name, imported, test); why != "" {
			broken = append(broken, fmt.Sprintf("%s/%s imports %s: %s", pkg, name, imported, why))
		}
	}
	if a.model && !test && !slices.Contains(a.edge, name) {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				broken = append(broken, fmt.Sprintf("%s/%s starts a goroutine: a model runs on one thread at a time", pkg, name))
			}
			return true
		})
	}
	return broken
}

// judgeImport returns why a file may not import something, "" when it may.
// Tests may import what they like, except what turns the arrows around.
func judgeImport(a article, name, imported string, test bool) string {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case imported == module || strings.HasPrefix(imported, module+"/"):
		ours := strings.TrimPrefix(imported, module+"/")
		if test || ours == a.pkg || slices.Contains(a.may, ours) {
			return ""
		}
		return a.reason
	case strings.Contains(first, "."):
		if test {
			return ""
		}
		for prefix, pkgs := range owners {
			if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
				if slices.Contains(pkgs, a.pkg) {
					return ""
				}
				return "only " + strings.Join(pkgs, ", ") + " knows it"
			}
		}
		return "no package of ours uses this module: say why it is worth it in ARCHITECTURE.md and law_test.go"
	case !a.model || test || slices.Contains(a.edge, name):
		return ""
	}
	if _, ok := exempt[a.pkg+" "+imported]; ok {
		return ""
	}
	return worldly[imported]
}

// sourceFiles calls f for every Go file of the module.
func sourceFiles(t *testing.T, f func(pkg, name, file string)) {
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if file != root && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(base, ".go") {
			rel, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				return err
			}
			f(filepath.ToSlash(rel), base, file)
		}
		return nil
	}))
}

func TestLawOfImports(t *testing.T) {
	packages := map[string]bool{}
	sourceFiles(t, func(pkg, name, file string) {
		packages[pkg] = true
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, b := range judge(pkg, name, syntax) {
			t.Error(b)
		}
	})
	t.Logf("%d packages obey", len(packages))
	assert.Contains(t, packages, "cmd/rdmasim")
	assert.Contains(t, packages, "sim")
}

// A law that nobody can break says nothing: each line here breaks it.
func TestLawOfImportsIsEnforced(t *testing.T) {
	for _, c := range []struct{ pkg, name, source, want string }{
		{"sim", "x.go", `import "rdmasim/fabric"`, "sim/x.go imports rdmasim/fabric: sim is the ground"},
		{"congestion", "x.go", `import "rdmasim/fabric/packet"`, "no packet, no queue pair"},
		{"scenarios/workload", "x.go", `import "rdmasim/verbs/simnic"`, "traffic sees only verbs"},
		{"reports/page", "x.go", `import "rdmasim/fabric"`, "reports are drawn from the run directory alone"},
		{"fabric", "x.go", `import "rdmasim/verbs"`, "NICs, traffic and scenarios are above it"},
		{"fabric", "x.go", `import "time"`, "no wall clock"},
		{"congestion", "x.go", `import "os"`, "no files and no environment"},
		{"verbs/simnic", "x.go", `import "math/rand/v2"`, "named stream"},
		{"sim", "x.go", `import "time"`, "no wall clock"},
		{"fabric", "x.go", `func f() { go f() }`, "starts a goroutine"},
		{"sim", "x.go", `func f() { go f() }`, "starts a goroutine"},
		{"reports/page", "x.go", `import "gonum.org/v1/plot/vg"`, "only reports/figure knows it"},
		{"cmd/rdmasim", "x.go", `import "go.yaml.in/yaml/v3"`, "only scenarios knows it"},
		{"fabric", "x.go", `import "github.com/stretchr/testify/assert"`, "knows it"},
		{"scenarios", "x.go", `import "github.com/someone/left-pad"`, "no package of ours uses this module"},
		{"fabric/wireless", "x.go", ``, "does not name"},

		{"sim", "workers.go", "import \"sync\"\nfunc f() { go f() }", ""},
		{"sim", "rand.go", `import "math/rand/v2"`, ""},
		{"sim/trace", "x.go", "import (\"os\"; \"time\"; \"github.com/parquet-go/parquet-go\")", ""},
		{"fabric", "x_test.go", "import (\"os\"; \"time\"; \"rdmasim/verbs/simnic\"; \"github.com/stretchr/testify/assert\")\nfunc f() { go f() }", ""},
		{"verbs/simnic", "x.go", `import ("rdmasim/fabric"; "rdmasim/congestion"; "math/bits")`, ""},
	} {
		syntax, err := parser.ParseFile(token.NewFileSet(), c.name, "package x\n"+c.source, parser.SkipObjectResolution)
		require.NoError(t, err, c.source)
		got := strings.Join(judge(c.pkg, c.name, syntax), "\n")
		if c.want == "" {
			assert.Empty(t, got, "%s/%s: %s", c.pkg, c.name, c.source)
		} else {
			assert.Contains(t, got, c.want, "%s/%s: %s", c.pkg, c.name, c.source)
		}
	}
}

// The law is a partial order: what a package may import may not import it.
func TestLawOfImportsHasNoCycle(t *testing.T) {
	var visit func(pkg string, above []string)
	visit = func(pkg string, above []string) {
		require.NotContains(t, above, pkg, "a cycle: %s", strings.Join(append(above, pkg), " -> "))
		a, ok := lookup(pkg)
		require.True(t, ok, "%s is imported by %v and has no article", pkg, above)
		for _, p := range a.may {
			visit(p, append(slices.Clone(above), pkg))
		}
	}
	for _, a := range law {
		visit(a.pkg, nil)
	}
}

// ARCHITECTURE.md names every package that exists, and is short enough to be read.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	require.NoError(t, err)
	assert.LessOrEqual(t, strings.Count(string(text), "\n"), 150)
	seen := map[string]bool{}
	sourceFiles(t, func(pkg, _, _ string) { seen[pkg] = true })
	for pkg := range seen {
		assert.True(t, strings.Contains(string(text), path.Base(pkg)+"/"), "ARCHITECTURE.md does not name %s", pkg)
	}
}
