package validation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// functions are those of the Go files of a directory that are no tests, by
// file name.
func functions(t *testing.T, dir string) map[string][]*ast.FuncDecl {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	list := map[string][]*ast.FuncDecl{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				list[filepath.Base(name)] = append(list[filepath.Base(name)], f)
			}
		}
	}
	return list
}

// uses adds the oracles behind the names that a function mentions.
func uses(f *ast.FuncDecl, of map[string]string, found map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && of[id.Name] != "" {
			found[of[id.Name]] = true
		}
		return true
	})
}

// A row names exactly the oracles whose functions it calls, itself or through
// the wire sizes that rows share, so that --explain shows what is computed.
func TestRowsNameTheirOracles(t *testing.T) {
	of := map[string]string{"wireShare": "wire_efficiency"}
	mention := regexp.MustCompile(`Source:\s+the\s+oracle\s+([a-z0-9_]+)`)
	for _, list := range functions(t, "../../congestion/fluid") {
		for _, f := range list {
			if m := mention.FindStringSubmatch(f.Doc.Text()); m != nil {
				of[f.Name.Name] = m[1]
			}
		}
	}
	require.Equal(t, "go_back_n_random", of["GoBackN"])
	files := functions(t, ".")
	for _, id := range IDs() {
		row, err := Lookup(id)
		require.NoError(t, err)
		found := map[string]bool{}
		for name, list := range files {
			if strings.HasPrefix(name, strings.ToLower(id)+"_") {
				for _, f := range list {
					uses(f, of, found)
				}
			}
		}
		var want []string
		for o := range found {
			want = append(want, o)
		}
		slices.Sort(want)
		assert.Equal(t, want, row.Oracles, id)
		equations, err := row.Equations()
		require.NoError(t, err, id)
		assert.Len(t, equations, len(row.Oracles))
	}
}
