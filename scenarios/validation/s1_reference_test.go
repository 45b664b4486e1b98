package validation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// referenceSonic has rendered QoS and buffer tables of real platforms; it is
// beside some checkouts.
const referenceSonic = "../../../shared/reference/data/sonic"

// The switch tests hold on switches imported from files of real platforms too,
// under the pieces that do not name ports.
func TestSwitchTestsOnRealFiles(t *testing.T) {
	for _, c := range []struct {
		platform, ports, marked string
		files                   []string
	}{
		// Frames of 1082 bytes take 6 cells of 208 bytes (41 of them are more than 50 KB), or 8 of 144 (44 are).
		{"th2", "", "== 60", []string{"qos-arista7260-t0.json", "buffer-arista7260-t0.json"}},
		{"th", "", "== 60", []string{"qos-dell6100.json", "buffers-dell6100.json", "pg_profile_lookup.Arista-7060CX-32S.ini"}},
		{"spc3", "ports: [Ethernet4, Ethernet6, Ethernet8, Ethernet10, Ethernet12], ", "== 57", []string{"qos-mellanox4600c-d48c40-t0.json", "buffers-mellanox4600c-t0-dynamic.json"}},
	} {
		dir := t.TempDir()
		b := newBench(context.Background(), "S1", Row{}, dir, Options{Level: Short})
		var files []string
		for _, name := range c.files {
			path, err := filepath.Abs(filepath.Join(referenceSonic, name))
			require.NoError(t, err)
			if _, err := os.Stat(path); err != nil {
				t.Skip("no reference data beside this checkout")
			}
			files = append(files, fmt.Sprintf("%q", path))
		}
		for _, file := range []string{"switch-dequeue-ecn.yaml", "switch-red-accuracy.yaml", "switch-ecn-two-priorities.yaml", "switch-pfc-lossless.yaml", "switch-global-pause.yaml", "switch-mixed-speed.yaml", "switch-roce-1to1.yaml"} {
			list := append([]string(nil), files...)
			piece := strings.TrimSuffix(file, ".yaml") + ".json"
			if file == "switch-mixed-speed.yaml" { // its own piece names ports
				piece = "switch-pfc-lossless.json"
			}
			if sonicPiece(piece) {
				text, err := sonicFiles.ReadFile("sonic/" + piece)
				require.NoError(t, err)
				path := filepath.Join(dir, piece)
				require.NoError(t, os.WriteFile(path, text, 0o666))
				list = append(list, fmt.Sprintf("%q", path))
			}
			set := append([]string{fmt.Sprintf("switch={sonic: {%splatform: %s, files: [%s]}, pfc: {response: 0s}}", c.ports, c.platform, strings.Join(list, ", ")), "nic.dscp=3"}, imported[file].settings...)
			if file == "switch-dequeue-ecn.yaml" {
				set = append(set, "expect.2=sum(counters.ecn_marked, object=sw0:0/q3) "+c.marked)
			}
			require.NoError(t, b.switchTest(file, c.platform, set...), "%s: %s", c.platform, file)
		}
		for _, x := range b.result.Checks {
			assert.True(t, x.OK, "%s: measured %s", x.What, x.Measured)
		}
	}
}
