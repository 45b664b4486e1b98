package scenarios

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// member decodes {name: {parameters}} or a bare name. The parameters start from
// the preset that the key preset names; without one, from m where m has the
// same name, and else from the defaults of the catalogue.
func (d *decoder) member(n *yaml.Node, path string, m *Member, c catalogue) error {
	name, params, err := d.memberNodes(n, path, c)
	if err != nil {
		return err
	}
	e, lookupErr := c.entry(name.Value)
	if lookupErr != nil {
		return d.fail(name, path, name.Value, "unknown %s: %swant one of %s", c.kind, didYouMean(name.Value, c.names()), strings.Join(c.names(), ", "))
	}
	start := e.defaults
	if m.Name == name.Value && m.Params != nil {
		start = m.Params
	}
	at := join(path, name.Value)
	if params != nil {
		if start, params, err = d.preset(params, at, e, start); err != nil {
			return err
		}
	}
	v := reflect.New(reflect.TypeOf(start)).Elem()
	v.Set(reflect.ValueOf(start))
	if params != nil {
		if err := d.value(params, at, v, nil); err != nil {
			return err
		}
	}
	*m = Member{Name: name.Value, Params: v.Interface()}
	return nil
}

// memberNodes returns the node of the name and that of the parameters, which is
// nil where there are none.
func (d *decoder) memberNodes(n *yaml.Node, path string, c catalogue) (name, params *yaml.Node, err error) {
	valid := "want one " + c.kind + " with its parameters, such as {" + first(c.names()) + ": {...}}"
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return nil, nil, d.fail(n, path, "", "has no value: %s", valid)
		}
		return n, nil, nil
	case yaml.SequenceNode:
		return nil, nil, d.fail(n, path, "", "is a list: %s", valid)
	}
	pairs, err := d.pairs(n, path)
	if err != nil {
		return nil, nil, err
	}
	switch len(pairs) {
	case 0:
		return nil, nil, d.fail(n, path, "", "is empty: %s", valid)
	default:
		return nil, nil, d.fail(pairs[1].key, join(path, pairs[1].key.Value), "", "is one more than %s: %s", pairs[0].key.Value, valid)
	case 1:
	}
	name, params = pairs[0].key, pairs[0].value
	if params.Kind == yaml.ScalarNode && params.ShortTag() == "!!null" {
		params = nil
	}
	return name, params, nil
}

func first(names []string) string {
	if len(names) == 0 {
		return "name"
	}
	return names[0]
}

// preset takes the key preset out of the parameters and returns what they start
// from and the rest of them.
func (d *decoder) preset(params *yaml.Node, path string, e *entry, start any) (any, *yaml.Node, error) {
	if len(e.presets) == 0 || params.Kind != yaml.MappingNode {
		return start, params, nil
	}
	pairs, err := d.pairs(params, path)
	if err != nil {
		return nil, nil, err
	}
	rest := *params
	rest.Content = nil
	for _, p := range pairs {
		if p.key.Value != presetKey {
			rest.Content = append(rest.Content, p.key, p.value)
			continue
		}
		at := join(path, presetKey)
		word, err := d.plain(p.value, at, reflect.TypeFor[string]())
		if err != nil {
			return nil, nil, err
		}
		values, ok := e.presets[word]
		if !ok {
			return nil, nil, d.fail(p.value, at, word, "unknown preset: %swant one of %s", didYouMean(word, e.names), strings.Join(e.names, ", "))
		}
		start = values
	}
	return start, &rest, nil
}

// presetKey chooses, among parameters, the preset that they start from.
const presetKey = "preset"
