package topology

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// everyTopology calls f for the defaults and the presets of the whole catalogue.
func everyTopology(t *testing.T, f func(t *testing.T, g *Graph)) {
	for _, name := range Topologies.Names() {
		e, err := Topologies.Lookup(name)
		require.NoError(t, err)
		params := map[string]any{"defaults": e.Defaults}
		for _, preset := range e.PresetNames() {
			params[preset] = e.Presets[preset]
		}
		for label, p := range params {
			t.Run(name+"/"+label, func(t *testing.T) {
				g, err := e.Build(p)
				require.NoError(t, err)
				f(t, g)
			})
		}
	}
}

// Every topology validates, and its hosts reach each other over switches.
func TestCatalogueRoutes(t *testing.T) {
	everyTopology(t, func(t *testing.T, g *Graph) {
		require.NoError(t, g.Validate())
		require.NotEmpty(t, g.Oversubscription())
		r := routes(t, g)
		ends := r.Endpoints()
		require.Equal(t, g.Endpoints(), ends)
		for src := range ends {
			for dst := range ends {
				if ends[src].Node == ends[dst].Node || (src+dst)%7 != 0 && len(ends) > 50 {
					continue
				}
				path := r.Path(src, dst, func(_, n int) int { return n - 1 })
				require.Len(t, path, r.Distance(src, dst))
				require.NotEmpty(t, path)
				require.Equal(t, ends[src], Endpoint{path[0].Node, path[0].Port})
				for _, h := range path[1:] {
					require.Equal(t, Switch, g.Nodes[h.Node].Kind, "hosts do not forward")
				}
				last := path[len(path)-1]
				q := r.Ports().Of(last.Node)[last.Port]
				require.Equal(t, ends[dst], Endpoint{q.Peer, q.PeerPort})
			}
		}
	})
}

// Every key of every topology and format has a name and a sentence.
func TestCatalogueKeysAreDocumented(t *testing.T) {
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		seen := map[string]bool{}
		for i := range typ.NumField() {
			f := typ.Field(i)
			key := f.Tag.Get("key")
			require.NotEmpty(t, key, "%v.%s", typ, f.Name)
			require.NotEmpty(t, f.Tag.Get("doc"), "%v.%s", typ, f.Name)
			require.False(t, seen[key], "%v: key %s twice", typ, key)
			seen[key] = true
			walk(f.Type)
		}
	}
	for _, name := range Topologies.Names() {
		e, _ := Topologies.Lookup(name)
		walk(reflect.TypeOf(e.Defaults))
	}
	for _, name := range Importers.Names() {
		e, _ := Importers.Lookup(name)
		walk(reflect.TypeOf(e.Defaults))
	}
}

// What WriteCustom writes builds the same graph, field by field.
func TestWriteCustomBuildsTheSameGraph(t *testing.T) {
	everyTopology(t, func(t *testing.T, g *Graph) {
		again, err := custom(WriteCustom(g))
		require.NoError(t, err)
		require.Equal(t, g, again)
	})
	r := sim.NewRand(1, "topology/write")
	for range 100 {
		g := randomGraph(r)
		for i := range g.Links {
			l := &g.Links[i]
			l.Loss, l.AName, l.BName = 0.25, fmt.Sprint("swp", i), fmt.Sprint("Ethernet1/", i)
			switch {
			case l.LAG != "": // one rate
			case i%3 == 0:
				l.BtoA = Side{Rate: 25 * sim.Gbps, Delay: 2 * sim.Microsecond}
			case i%3 == 1:
				l.Cable = 40 * sim.Metre
				l.AtoB.Delay, l.BtoA.Delay = l.Cable.Delay(), l.Cable.Delay()
			}
		}
		again, err := custom(WriteCustom(g))
		require.NoError(t, err)
		require.Equal(t, g, again)
	}
}

// Renaming and reordering the nodes of a fabric permutes its routes and changes
// nothing else.
func TestRenamingPermutesRoutes(t *testing.T) {
	r := sim.NewRand(1, "topology/rename")
	everyTopology(t, func(t *testing.T, g *Graph) {
		to := r.Perm(len(g.Nodes)) // old index -> new index
		moved := &Graph{Name: g.Name, Nodes: make([]Node, len(g.Nodes)), Links: slices.Clone(g.Links)}
		for i, n := range g.Nodes {
			n.Name = fmt.Sprintf("renamed%d", to[i])
			moved.Nodes[to[i]] = n
		}
		for i := range moved.Links {
			l := &moved.Links[i]
			l.A, l.B = to[l.A], to[l.B]
		}
		require.Equal(t, g.Stats(), moved.Stats())
		a, b := routes(t, g), routes(t, moved)
		for e, end := range a.Endpoints() {
			if e%5 != 0 && len(a.Endpoints()) > 50 {
				continue
			}
			f, ok := b.EndpointAt(to[end.Node], end.Port)
			require.True(t, ok)
			for n := range g.Nodes {
				x, y := slices.Clone(a.Next(n, e)), slices.Clone(b.Next(to[n], f))
				slices.Sort(x)
				slices.Sort(y)
				require.Equal(t, x, y, "ports of %s towards endpoint %v", g.Nodes[n].Name, end)
			}
		}
	})
}

// No number in any field makes a topology panic, hang or outgrow its limits:
// each gives a fabric or one error that names the key.
func TestCatalogueBearsAnyNumber(t *testing.T) {
	numbers := []int64{math.MinInt64, -1, 0, 1, 2, 3, 7, 1000, 1 << 31, math.MaxInt64}
	ratios := []float64{math.Inf(-1), -1, 0, 0.3, 1, 2, 1e9, math.Inf(1), math.NaN()}
	for _, name := range Topologies.Names() {
		e, err := Topologies.Lookup(name)
		require.NoError(t, err)
		params := reflect.New(reflect.TypeOf(e.Defaults)).Elem()
		forEachNumber(params, e.Defaults, func(set func(int64), setFloat func(float64)) {
			try := func() {
				g, err := e.Build(params.Interface())
				if err != nil {
					require.Regexp(t, "^topology ", err.Error())
					return
				}
				require.NoError(t, g.Validate())
			}
			for _, n := range numbers {
				if set != nil {
					set(n)
					try()
				}
			}
			for _, v := range ratios {
				if setFloat != nil {
					setFloat(v)
					try()
				}
			}
		})
	}
}

// forEachNumber sets params to defaults before every call of f, and hands it
// setters of one number within, at any depth.
func forEachNumber(params reflect.Value, defaults any, f func(func(int64), func(float64))) {
	var walk func(at func() reflect.Value)
	walk = func(at func() reflect.Value) {
		params.Set(deepCopy(reflect.ValueOf(defaults)))
		switch v := at(); v.Kind() {
		case reflect.Int, reflect.Int64:
			f(func(n int64) { at().SetInt(n) }, nil)
		case reflect.Float64:
			f(nil, func(n float64) { at().SetFloat(n) })
		case reflect.Struct:
			for i := range v.NumField() {
				walk(func() reflect.Value { return at().Field(i) })
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(func() reflect.Value { return at().Index(i) })
			}
		}
	}
	walk(func() reflect.Value { return params })
}

func deepCopy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(deepCopy(v.Field(i)))
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(deepCopy(v.Index(i)))
		}
	}
	return out
}
