package validation

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		if err := b.switchTest(onImported, file, settings...); err != nil {
			return err
		}
	}
	return nil
}

// onImported marks the checks on that switch.
const onImported = "imported SONiC switch, "
