package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// identifier is package.Name in backquotes, as GLOSSARY.md writes it.
var identifier = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z0-9]*)(\\.[A-Z][A-Za-z0-9]*)?`")

// Every identifier of GLOSSARY.md exists, fields and methods included.
func TestGlossaryIdentifiersExist(t *testing.T) {
	declared := map[string]bool{}
	sourceFiles(t, func(pkg, name, file string) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range syntax.Decls {
			for _, n := range exported(d) {
				declared[path.Base(pkg)+"."+n] = true
			}
		}
	})
	text, err := os.ReadFile(filepath.Join("..", "..", "GLOSSARY.md"))
	require.NoError(t, err)
	found := identifier.FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.True(t, declared[m[1]+"."+m[2]+m[3]], "GLOSSARY.md speaks of %s, which does not exist", m[0])
	}
}

// exported returns the names that a declaration gives to the package: types,
// constants, variables, functions, and Type.Field and Type.Method.
func exported(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver := d.Recv.List[0].Type
		if p, ok := receiver.(*ast.StarExpr); ok {
			receiver = p.X
		}
		if id, ok := receiver.(*ast.Ident); ok {
			names = append(names, id.Name+"."+d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						for _, n := range f.Names {
							names = append(names, s.Name.Name+"."+n.Name)
						}
					}
				}
			}
		}
	}
	return names
}
