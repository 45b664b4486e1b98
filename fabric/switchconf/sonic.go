package switchconf

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// File is a file as it was given.
type File struct {
	Name string
	Data []byte
}

// Options are what the files themselves do not say.
type Options struct {
	Platform string // platform, hwsku or short name of the ASIC, instead of DEVICE_METADATA
}

// Status says what became of one field of a file.
type Status string

// The statuses.
const (
	Understood Status = "understood" // it is in the model
	StandsIn   Status = "defaulted"  // it is in no file; a default stands in for it
	Overridden Status = "overridden" // a later file gives another value
	Unrelated  Status = "unrelated"  // it is not about the fabric
	Unknown    Status = "not understood"
)

// Field is one field of a file, or a default, with what became of it.
type Field struct {
	Table, Key, Name string // Key and Name are empty for a table as a whole
	Value            string
	From             Origin
	Status           Status
	Doc              string // what it means, or why it is not used
	Why              string // why it is not used although it is understood; may be empty
}

// Import is what was read.
type Import struct {
	Switch *Switch
	Fields []Field     // each field of each file, then the defaults
	Lookup []LookupRow // of pg_profile_lookup.ini, or built in
	// LookupFrom says where Lookup comes from, "" without one.
	LookupFrom string
}

// ReadSONiC reads files of SONiC: config_db.json, pieces of it such as rendered
// QoS and buffer templates, lists of APPL_DB tables as old images have them,
// and pg_profile_lookup.ini (by its ending). Later files override earlier ones,
// field by field. An error is an *Error: the first thing that is wrong.
func ReadSONiC(files []File, o Options) (*Import, error) {
	r := &sonicReader{sw: &Switch{}, ports: map[string]int{}, tables: map[string]bool{}, at: map[Origin]int{}}
	json := 0
	for _, f := range files {
		if strings.EqualFold(path.Ext(f.Name), ".ini") {
			rows, err := ReadLookup(f)
			if err != nil {
				return nil, err
			}
			r.noteLookup(Overridden)
			r.lookup, r.lookupFrom = rows, f.Name
			continue
		}
		json++
		if err := r.file(f); err != nil {
			return nil, err
		}
	}
	if json == 0 && r.lookup == nil {
		return nil, &Error{Problem: "no file: want config_db.json, a piece of it, or pg_profile_lookup.ini"}
	}
	r.noteLookup(Understood)
	if err := r.identify(o); err != nil {
		return nil, err
	}
	r.lineCard()
	if err := r.resolve(); err != nil {
		return nil, err
	}
	r.sort()
	if err := r.complete(); err != nil {
		return nil, err
	}
	return &Import{Switch: r.sw, Fields: r.fields, Lookup: r.lookup, LookupFrom: r.lookupFrom}, nil
}

// Bounds on what is read: a chassis has some thousands of ports of eight queues.
const (
	maxEntries = 1 << 17 // of a table
	maxThings  = 4096    // ports, profiles, maps of a kind
	maxName    = 200     // letters; SONiC's YANG models have up to 128
)

// sonicReader fills a Switch from tables.
type sonicReader struct {
	sw         *Switch
	ports      map[string]int  // index in sw.Ports
	tables     map[string]bool // that a file has, empty or not
	fields     []Field
	at         map[Origin]int // index in fields
	refs       []reference
	lookup     []LookupRow
	lookupFrom string
	tooMany    error
	reading    string // name of the file
}

// note adds a field to the explanation.
func (r *sonicReader) note(f Field) {
	if f.From.Kind == Given {
		r.at[f.From] = len(r.fields)
	}
	r.fields = append(r.fields, f)
}

// leaf is one field that is being read.
type leaf struct {
	table, key, name string
	node             *node
	from             Origin
}

// fail returns an error about the leaf.
func (l *leaf) fail(format string, args ...any) error {
	return &Error{From: l.from, Value: l.node.text, Problem: fmt.Sprintf(format, args...)}
}

// pointer returns the JSON pointer (RFC 6901) of names.
func pointer(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(n, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// origin returns the origin of a place in the file that is being read.
func (r *sonicReader) origin(line, column int, names ...string) Origin {
	return Origin{Kind: Given, File: r.reading, Line: line, Column: column, Path: pointer(names...)}
}

// file reads one file of JSON.
func (r *sonicReader) file(f File) error {
	root, err := parseJSON(f.Name, f.Data)
	if err != nil {
		return err
	}
	r.reading = f.Name
	if root.shape == shapeList {
		if root, err = r.applDB(root); err != nil {
			return err
		}
	}
	if root.shape != shapeObject {
		return &Error{From: r.origin(root.line, root.column), Problem: "is " + root.shape.String() + ": want an object of tables, such as {\"PORT\": {...}}"}
	}
	for _, k := range root.keys {
		if err := r.table(k); err != nil {
			return err
		}
	}
	return nil
}

// applDB turns a list of operations, {"BUFFER_POOL_TABLE:x": {...}, "OP":
// "SET"}, into tables.
func (r *sonicReader) applDB(list *node) (*node, error) {
	root := &node{shape: shapeObject, line: list.line, column: list.column}
	for _, item := range list.items {
		if item.shape != shapeObject {
			return nil, &Error{From: r.origin(item.line, item.column), Problem: "is " + item.shape.String() + `: want an object such as {"BUFFER_POOL_TABLE:ingress_lossless_pool": {...}, "OP": "SET"}`}
		}
		for _, k := range item.keys {
			if k.name == "OP" {
				if k.value.text != "SET" {
					return nil, &Error{From: r.origin(k.line, k.column, "OP"), Value: k.value.text, Problem: "want SET"}
				}
				continue
			}
			name, rest, ok := strings.Cut(k.name, ":")
			if !ok {
				return nil, &Error{From: r.origin(k.line, k.column, k.name), Problem: "want a table and a key, such as BUFFER_POOL_TABLE:ingress_lossless_pool"}
			}
			name = strings.TrimSuffix(name, "_TABLE")
			i := slices.IndexFunc(root.keys, func(t key) bool { return t.name == name })
			if i < 0 {
				i = len(root.keys)
				root.keys = append(root.keys, key{name: name, line: k.line, column: k.column, value: &node{shape: shapeObject, line: k.line, column: k.column}})
			}
			k.name = strings.ReplaceAll(rest, ":", "|")
			root.keys[i].value.keys = append(root.keys[i].value.keys, k)
		}
	}
	return root, nil
}

// table reads one table.
func (r *sonicReader) table(k key) error {
	t, ok := sonicTables[k.name]
	if !ok {
		return r.unknownTable(k)
	}
	if k.value.shape != shapeObject {
		return &Error{From: r.origin(k.value.line, k.value.column, k.name), Problem: "is " + k.value.shape.String() + ": want an object with a key for each entry"}
	}
	if len(k.value.keys) > maxEntries {
		return &Error{From: r.origin(k.line, k.column, k.name), Problem: fmt.Sprintf("%d entries: want at most %d", len(k.value.keys), maxEntries)}
	}
	r.tables[k.name] = true
	for _, e := range k.value.keys {
		if e.value.shape != shapeObject {
			return &Error{From: r.origin(e.value.line, e.value.column, k.name, e.name), Value: e.value.text, Problem: "is " + e.value.shape.String() + ": want an object of fields"}
		}
		row := entry{r: r, table: k.name, key: e.name, node: e.value, from: r.origin(e.line, e.column, k.name, e.name)}
		if err := t.read(&row); err != nil {
			return err
		}
		if r.tooMany != nil {
			return r.tooMany
		}
	}
	if len(k.value.keys) == 0 {
		r.note(Field{Table: k.name, From: r.origin(k.line, k.column, k.name), Status: Understood, Doc: "an empty table"})
	}
	return nil
}

// aboutQueues are parts of the names of tables that shape queues. Such a table
// that is not known is worth a second look.
var aboutQueues = []string{"BUFFER", "QOS", "PFC", "WRED", "SCHED", "QUEUE", "_TC_", "TC_TO", "TO_TC", "DSCP", "ECN", "TRIM", "LOSSLESS", "CABLE", "SHAP", "POLICER"}

// unknownTable lists a table that is not read.
func (r *sonicReader) unknownTable(k key) error {
	f := Field{Table: k.name, From: r.origin(k.line, k.column, k.name), Status: Unrelated, Doc: "not about the fabric"}
	if k.value.shape == shapeObject {
		f.Value = fmt.Sprintf("%d entries", len(k.value.keys))
		if len(k.value.keys) == 1 {
			f.Value = "1 entry"
		}
		for _, inner := range k.value.keys {
			if _, ok := sonicTables[inner.name]; ok && inner.value.shape == shapeObject && strings.HasPrefix(k.name, "asic") || k.name == "localhost" && ok {
				return &Error{From: r.origin(inner.line, inner.column, k.name, inner.name), Problem: "a table one level too deep: this file holds the configurations of several ASICs; give the one of " + k.name + " as a file of its own"}
			}
		}
	}
	if doc, ok := unmodelledTables[k.name]; ok {
		f.Status, f.Doc = Unknown, doc
	} else if slices.ContainsFunc(aboutQueues, func(s string) bool { return strings.Contains(k.name, s) }) {
		f.Status, f.Doc = Unknown, "a table that this version does not know"
	}
	r.note(f)
	return nil
}

// port returns the port of that name, made when it is new.
func (r *sonicReader) port(name string, from Origin) *Port {
	i, ok := r.ports[name]
	if !ok {
		if len(r.sw.Ports) == maxThings {
			r.tooMany = &Error{From: from, Problem: fmt.Sprintf("more than %d ports", maxThings)}
		}
		i = len(r.sw.Ports)
		r.ports[name] = i
		r.sw.Ports = append(r.sw.Ports, Port{Name: name, From: from})
	}
	return &r.sw.Ports[i]
}
