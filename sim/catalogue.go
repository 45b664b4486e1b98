package sim

import (
	"fmt"
	"sort"
	"strings"
)

// Catalogue holds the members of one kind (algorithms, topologies, workloads)
// by name. Each member registers itself from its own file.
type Catalogue[T any] struct {
	kind    string
	entries map[string]*Entry[T]
}

// Entry is one member: its name, one sentence about it, its parameters as a
// struct value with the defaults filled in, and named presets of the same type.
// Fields of the parameter struct carry the tags `key:"..."` (the name in a
// scenario) and `doc:"..."`.
type Entry[T any] struct {
	Name     string
	Doc      string
	Defaults any
	Presets  map[string]any
	build    func(any) (T, error)
}

// NewCatalogue returns an empty catalogue; kind is the singular noun used in errors.
func NewCatalogue[T any](kind string) *Catalogue[T] {
	return &Catalogue[T]{kind: kind, entries: map[string]*Entry[T]{}}
}

// Register adds a member and returns true, so that it can be called in a
// package-level var declaration. It panics on a duplicate name.
func Register[T, P any](c *Catalogue[T], name, doc string, defaults P, presets map[string]P, build func(P) (T, error)) bool {
	if _, ok := c.entries[name]; ok {
		panic(fmt.Sprintf("duplicate %s %q", c.kind, name))
	}
	e := &Entry[T]{Name: name, Doc: doc, Defaults: defaults, Presets: map[string]any{}}
	for k, v := range presets {
		e.Presets[k] = v
	}
	e.build = func(p any) (T, error) {
		v, ok := p.(P)
		if !ok {
			var zero T
			return zero, fmt.Errorf("%s %s takes parameters of type %T, not %T", c.kind, name, defaults, p)
		}
		return build(v)
	}
	c.entries[name] = e
	return true
}

// Build makes the member from its parameters, a value of the type of Defaults.
func (e *Entry[T]) Build(params any) (T, error) { return e.build(params) }

// PresetNames returns the names of the presets in order.
func (e *Entry[T]) PresetNames() []string {
	names := make([]string, 0, len(e.Presets))
	for n := range e.Presets {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Lookup returns the entry of that name; the error lists the names that exist.
func (c *Catalogue[T]) Lookup(name string) (*Entry[T], error) {
	if e, ok := c.entries[name]; ok {
		return e, nil
	}
	return nil, fmt.Errorf("unknown %s %q: want one of %s", c.kind, name, strings.Join(c.Names(), ", "))
}

// Names returns the names of all members in order.
func (c *Catalogue[T]) Names() []string {
	names := make([]string, 0, len(c.entries))
	for n := range c.entries {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Kind returns the singular noun of the members.
func (c *Catalogue[T]) Kind() string { return c.kind }
