package scenarios

import (
	"bytes"
	"reflect"

	"go.yaml.in/yaml/v3"

	"rdmasim/fabric/topology"
)

// TopologyYAML returns the key topology of a scenario, as YAML, that builds g.
func TopologyYAML(g *topology.Graph) ([]byte, error) {
	custom := &tree{shape: object}
	custom.add("custom", sparse(reflect.ValueOf(topology.WriteCustom(g))))
	top := &tree{shape: object}
	top.add("topology", custom)
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(top.node()); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// sparse is treeOf without the fields of structs that are zero.
func sparse(v reflect.Value) *tree {
	switch {
	case v.Type().Implements(marshalerType):
		return treeOf(v)
	case v.Kind() == reflect.Slice:
		out := &tree{shape: list}
		for i := range v.Len() {
			out.items = append(out.items, sparse(v.Index(i)))
		}
		return out
	case v.Kind() == reflect.Struct:
		out := &tree{shape: object}
		for _, f := range fieldsOf(v.Type()) {
			if x := v.FieldByIndex(f.index); !x.IsZero() {
				out.add(f.key, sparse(x))
			}
		}
		return out
	}
	return treeOf(v)
}
