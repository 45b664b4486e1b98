package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"rdmasim/fabric/switchconf"
)

// SonicSpec names files of SONiC that a switch is configured by. Keys of the
// switch beside it override what the files say.
type SonicSpec struct {
	Files    []string `key:"files" doc:"config_db.json, pieces of it, and pg_profile_lookup.ini; relative to the scenario"`
	Platform string   `key:"platform" doc:"platform, hwsku or ASIC (th, td3, spc3, ...), instead of that in the files"`
	Ports    []string `key:"ports" doc:"names of the ports of the files that ports 0, 1, ... of the switch are; the others follow in the order of their names"`
	SHA256   string   `key:"sha256" doc:"hash of the files as they were read; where it is given, the switch is as written here and the files are not opened"`
	Set      bool     `key:"-"`

	read *switchconf.Import // what was read; nil with SHA256 given
}

// Bounds on files of SONiC.
const (
	maxSonicFile  = 32 << 20
	maxSonicFiles = 32
)

var sonicType = reflect.TypeFor[SonicSpec]()

// base puts what files say onto a switch, before its own keys.
func (d *decoder) base(v reflect.Value, keys map[string]pair, path string) error {
	p, ok := keys["sonic"]
	if !ok {
		return nil
	}
	switch x := v.Addr().Interface().(type) {
	case *SwitchSpec:
		return d.sonic(x, p, path)
	case *SwitchRule:
		return d.sonic(&x.Switch, p, path)
	}
	return nil
}

// sonic reads the files that the key sonic of a switch names, and puts what
// they say onto w.
func (d *decoder) sonic(w *SwitchSpec, p pair, path string) error {
	at := join(path, "sonic")
	w.Sonic = SonicSpec{}
	if err := d.value(p.value, at, reflect.ValueOf(&w.Sonic).Elem(), nil); err != nil {
		return err
	}
	c := &w.Sonic
	_, files := child(p.value, "files")
	if len(c.Files) == 0 || len(c.Files) > maxSonicFiles {
		return d.fail(p.value, at, "", "want files: a list of 1 to %d names, such as [config_db.json]", maxSonicFiles)
	}
	if c.SHA256 != "" {
		if b, err := hex.DecodeString(c.SHA256); err != nil || len(b) != sha256.Size {
			return d.fail(p.value, at+".sha256", c.SHA256, "want 64 hexadecimal digits")
		}
		return nil
	}
	var list []switchconf.File
	for i, name := range c.Files {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(d.spec.Dir, full)
		}
		data, err := readRegular(full, maxSonicFile)
		if err != nil {
			return d.fail(item(files, i), fmt.Sprintf("%s.files.%d", at, i), name, "%s", strings.TrimPrefix(err.Error(), full+": "))
		}
		list = append(list, switchconf.File{Name: name, Data: data})
	}
	c.SHA256 = sonicHash(list)
	im, err := switchconf.ReadSONiC(list, switchconf.Options{Platform: c.Platform})
	if err != nil {
		var e *switchconf.Error
		if errors.As(err, &e) && e.From.File == "" {
			return d.fail(p.value, at+"."+e.From.Path, e.Value, "%s", e.Problem)
		}
		return d.fail(p.value, at, "", "%s", oneLine(err.Error()))
	}
	ports, err := sonicPorts(im.Switch, c.Ports)
	if err != nil {
		return d.fail(p.value, at, "", "%s", oneLine(err.Error()))
	}
	m := mapSonic(im, *w, ports)
	m.w.Sonic.read = im
	*w = m.w
	return nil
}

// item returns an item of a list, or the list.
func item(n *yaml.Node, i int) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	return n
}

// sonicHash is the SHA-256, in hex, of the contents of files, each after its
// length.
func sonicHash(files []switchconf.File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d\n", len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
