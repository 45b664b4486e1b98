package scenarios

import (
	"bytes"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"rdmasim/fabric"
	"rdmasim/fabric/switchconf"
)

// SonicField says what became of one field of SONiC's files, or of a value
// that no file gives.
type SonicField struct {
	Status string   `json:"status"` // used, defaulted, not expressed, not understood, overridden, unrelated
	File   string   `json:"file,omitempty"`
	Line   int      `json:"line,omitempty"`
	Column int      `json:"column,omitempty"`
	Path   string   `json:"path,omitempty"` // JSON pointer
	Table  string   `json:"table,omitempty"`
	Key    string   `json:"key,omitempty"`
	Field  string   `json:"field,omitempty"`
	Value  string   `json:"value,omitempty"`
	Keys   []string `json:"keys,omitempty"` // of the switch of a scenario
	Text   string   `json:"text"`
}

// The statuses that the fields of switchconf do not have.
const (
	sonicUsed         = "used"
	sonicDefaulted    = "defaulted"
	sonicNotExpressed = "not expressed"
)

// SonicImport is a SONiC switch as a switch of a scenario.
type SonicImport struct {
	Switch SwitchSpec
	Ports  []string // names, in the order of the numbers that rules use
	Fields []SonicField
	Config *switchconf.Switch
}

// ImportSonic turns files of SONiC into a switch of a scenario. Its ports 0, 1,
// ... are those that order names, and then the others in the order of their names.
func ImportSonic(files []switchconf.File, o switchconf.Options, order ...string) (*SonicImport, error) {
	im, err := switchconf.ReadSONiC(files, o)
	if err != nil {
		return nil, err
	}
	ports, err := sonicPorts(im.Switch, order)
	if err != nil {
		return nil, err
	}
	m := mapSonic(im, DefaultSwitch(), ports)
	out := &SonicImport{Switch: m.w, Fields: m.explain(), Config: im.Switch}
	for _, p := range m.ports {
		out.Ports = append(out.Ports, p.Name)
	}
	return out, nil
}

// explain says what became of each field.
func (m *sonicMapper) explain() []SonicField {
	var out []SonicField
	for _, f := range m.im.Fields {
		x := SonicField{Status: string(f.Status), File: f.From.File, Line: f.From.Line, Column: f.From.Column, Path: f.From.Path,
			Table: f.Table, Key: f.Key, Field: f.Name, Value: f.Value, Text: f.Doc}
		if f.Status == switchconf.Understood || f.Status == switchconf.StandsIn {
			m.follow(&x, f)
		}
		out = append(out, x)
	}
	return append(out, m.extra...)
}

// follow says where a value that is understood went.
func (m *sonicMapper) follow(x *SonicField, f switchconf.Field) {
	keys, why := m.used[idOf(f.From)], m.why[idOf(f.From)]
	if f.Status == switchconf.StandsIn { // its origin has no file
		keys, why = m.used[fieldID{path: f.From.Path}], m.why[fieldID{path: f.From.Path}]
	}
	switch {
	case len(keys) > 0:
		x.Keys = keys
		if x.Status != sonicDefaulted {
			x.Status = sonicUsed
		}
		if why != "" {
			x.Text += "; " + why
		}
	case f.Name == "" && (f.Doc == "an empty table" || f.Doc == "an entry without fields"):
		x.Status = sonicUsed
	case why != "":
		x.Text = why
		if x.Status != sonicDefaulted {
			x.Status = sonicNotExpressed
		}
	case x.Status != sonicDefaulted:
		x.Status, x.Text = sonicNotExpressed, m.fallback(f)
	}
}

// notModelled are fields of SONiC that a switch of a scenario has no key for.
var notModelled = map[string]string{
	"DEFAULT_LOSSLESS_BUFFER_PARAMETER": "headroom is computed by headroom: auto from rate, cable and MTU of the scenario",
	"LOSSLESS_TRAFFIC_PATTERN":          "headroom is computed by headroom: auto from rate, cable and MTU of the scenario",
	"DEVICE_METADATA":                   "buffers are as the files say, whoever computed them",
	"BUFFER_POOL":                       "no port that is used takes from the pool",
	switchconf.LookupTable:              "no lossless priority group without a profile of its own is on a port of this speed and cable",
}

// fallback is the reason where there is no closer one.
func (m *sonicMapper) fallback(f switchconf.Field) string {
	if f.Why != "" {
		return f.Why
	}
	if s, ok := notModelled[f.Table]; ok {
		return s
	}
	return "nothing that is used refers to it"
}

// tree returns the switch without what is the default.
func (s *SonicImport) tree() *tree {
	return differing(reflect.ValueOf(s.Switch), reflect.ValueOf(DefaultSwitch()), &s.Switch)
}

// JSON returns the switch without what is the default.
func (s *SonicImport) JSON() ([]byte, error) {
	var text bytes.Buffer
	s.tree().json(&text, "")
	return text.Bytes(), nil
}

// YAML returns the key switch of a scenario, without what is the default.
func (s *SonicImport) YAML() ([]byte, error) {
	top := &tree{shape: object}
	top.add("switch", s.tree())
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(top.node()); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// differing returns the keys of v whose values are not those of base. Items of
// lists start from the rules of the switch that they are in.
func differing(v, base reflect.Value, w *SwitchSpec) *tree {
	out := &tree{shape: object}
	for _, f := range fieldsOf(v.Type()) {
		x, y := v.FieldByIndex(f.index), base.FieldByIndex(f.index)
		if f.typ == sonicType || !f.required && reflect.DeepEqual(x.Interface(), y.Interface()) || !f.required && x.Kind() == reflect.Map && x.Len()+y.Len() == 0 || !f.required && x.Kind() == reflect.Slice && x.Len()+y.Len() == 0 {
			continue
		}
		switch t := x.Type(); {
		case t.Implements(marshalerType), t == memberType:
			out.add(f.key, treeOf(x))
		case x.Kind() == reflect.Struct:
			if set := x.FieldByName("Set"); set.IsValid() && !set.Bool() {
				continue
			}
			out.add(f.key, differing(x, y, w))
		case x.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t.Elem() != memberType:
			items := &tree{shape: list}
			d := decoder{sw: w, spec: &Spec{}}
			for i := range x.Len() {
				items.items = append(items.items, differing(x.Index(i), d.fresh(t.Elem()), w))
			}
			out.add(f.key, items)
		default:
			out.add(f.key, treeOf(x))
		}
	}
	return out
}

// watchdogMember returns a watchdog of a flavour of SONiC with its timers.
func watchdogMember(flavour string, params fabric.WatchdogParams, bigRed bool) Member {
	w, err := NewMember("watchdog", flavour, "")
	if err != nil {
		panic(fmt.Sprintf("%s: %v", flavour, err)) // the member is part of this program
	}
	v := reflect.New(reflect.TypeOf(w.Params)).Elem()
	v.Set(reflect.ValueOf(w.Params))
	v.FieldByName("WatchdogParams").Set(reflect.ValueOf(params))
	v.FieldByName("BigRedSwitch").SetBool(bigRed)
	w.Params = v.Interface()
	return w
}
