package switchconf_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/switchconf"
)

// referenceDir has rendered QoS and buffer tables of real platforms; it is
// beside some checkouts.
const referenceDir = "../../../shared/reference/data/sonic"

func referenceFiles(t testing.TB, pattern string) []switchconf.File {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(referenceDir, pattern))
	if len(names) == 0 {
		t.Skip("no reference data beside this checkout")
	}
	var files []switchconf.File
	for _, n := range names {
		data, err := os.ReadFile(n)
		require.NoError(t, err)
		files = append(files, switchconf.File{Name: filepath.Base(n), Data: data})
	}
	return files
}

// leaves returns the JSON pointers of what is not an object.
func leaves(t *testing.T, data []byte) []string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(bytes.TrimSpace(data), &v))
	var out []string
	var walk func(at string, v any)
	walk = func(at string, v any) {
		if m, ok := v.(map[string]any); ok && len(m) > 0 {
			for k, x := range m {
				walk(at+"/"+strings.ReplaceAll(strings.ReplaceAll(k, "~", "~0"), "/", "~1"), x)
			}
			return
		}
		out = append(out, at)
	}
	if list, ok := v.([]any); ok { // operations of APPL_DB
		for _, op := range list {
			for k, x := range op.(map[string]any) {
				if table, key, ok := strings.Cut(k, ":"); ok {
					walk("/"+strings.TrimSuffix(table, "_TABLE")+"/"+strings.ReplaceAll(key, ":", "|"), x)
				}
			}
		}
		return out
	}
	walk("", v)
	return out
}

func TestReferenceFilesAreUnderstood(t *testing.T) {
	files := referenceFiles(t, "*.json")
	assert.Len(t, files, 9)
	for _, f := range files {
		t.Run(f.Name, func(t *testing.T) {
			im := read(t, f)
			complete(t, im, f.Data)
			for _, x := range im.Fields {
				assert.NotEqual(t, switchconf.Unknown, x.Status, "%s: %s", x.From, x.Doc)
			}
		})
	}
}

// What the built-in tables say of an ASIC is what its file says.
func TestShippedTablesAreThoseOfTheFiles(t *testing.T) {
	files := referenceFiles(t, "*.ini")
	assert.Len(t, files, 2)
	for _, f := range files {
		rows, err := switchconf.ReadLookup(f)
		require.NoError(t, err)
		assert.Len(t, rows, 15)
		asic := switchconf.IdentifyASIC(f.Name)
		require.NotNil(t, asic, f.Name)
		im, err := switchconf.ReadSONiC([]switchconf.File{text("{}")}, switchconf.Options{Platform: asic.Name})
		require.NoError(t, err)
		assert.Len(t, im.Lookup, 15)
		for _, r := range rows {
			got := switchconf.FindLookup(im.Lookup, r.Speed, r.Cable)
			require.NotNil(t, got)
			want := r
			want.From = got.From
			assert.Equal(t, want, *got, "%s", r.From)
		}
	}
}
