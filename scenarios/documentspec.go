package scenarios

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Document is a YAML file of another kind than a scenario, such as a plan of
// tuning, that was read as strictly.
type Document struct {
	Dir  string // directory of the file, for files that it names
	spec *Spec  // holds the places of values
}

// DecodeDocument reads a YAML file onto the struct that into points to, which
// holds the defaults and has the field tags of Spec. what names the kind of file
// in errors and says what it needs. An error is an *Error with its place.
func DecodeDocument(file, what string, data []byte, into any) (*Document, error) {
	src, err := readTreeOf(file, what, what, data)
	if err != nil {
		return nil, err
	}
	spec := &Spec{source: src, Dir: filepath.Dir(file)}
	d := decoder{src: src, spec: spec}
	v := reflect.ValueOf(into).Elem()
	given := map[string]bool{}
	if err := d.structure(src.root, "", v, given); err != nil {
		return nil, err
	}
	for _, f := range fieldsOf(v.Type()) {
		if f.required && !given[f.key] {
			return nil, d.fail(src.root, "", "", "%s is missing: %s", f.key, f.doc)
		}
	}
	if err := spec.walk(v, "", nil); err != nil {
		return nil, err
	}
	return &Document{Dir: spec.Dir, spec: spec}, nil
}

// Errorf returns an error about the value of a path such as parameters.0.from,
// with its place in the file.
func (d *Document) Errorf(path, value, format string, args ...any) error {
	return d.spec.errorAt(path, value, format, args...)
}

// EncodeDocument writes a struct with the field tags of Spec as YAML, defaults
// spelt out: what DecodeDocument reads.
func EncodeDocument(v any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(treeOf(reflect.ValueOf(v)).node())
	return b.Bytes(), err
}

// ResolvedValue returns the value of a path of a resolved scenario as its text,
// such as 400KB for switch.ecn.3.kmin; false where there is none, or where it
// has values of its own.
func ResolvedValue(s *Spec, path string) (string, bool) {
	t := resolvedTree(s)
	for _, seg := range split(path) {
		if t = t.child(seg); t == nil {
			return "", false
		}
	}
	return t.text, t.shape != list && t.shape != object
}

// child returns the entry of an object or the item of a list, nil where there
// is none.
func (t *tree) child(seg string) *tree {
	for i, item := range t.items {
		if t.shape == object && t.keys[i] == seg || t.shape == list && fmt.Sprint(i) == seg {
			return item
		}
	}
	return nil
}
