package scenarios

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rdmasim/fabric/topology"
	"rdmasim/scenarios/hpcc"
	"rdmasim/scenarios/library"
	"rdmasim/scenarios/workload"
)

// Load returns the scenario of a name: a YAML file, the YAML of a Lumina test, the
// config.txt of the HPCC ns-3 model, or a scenario of the library. settings are of the form
// path=value.
func Load(name string, settings []string) (*Spec, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory: want a scenario file, or the config.txt in it", name)
	case err == nil && isHPCC(name):
		return loadHPCC(name, settings)
	case err == nil:
		data, err := readRegular(name, MaxFile)
		if err != nil {
			return nil, err
		}
		if text, left, ok, err := FromLumina(name, data); ok {
			if err != nil {
				return nil, err
			}
			s, err := ParseSet(name+" as a scenario", text, settings)
			if err == nil {
				s.left = left
			}
			return s, err
		}
		return ParseSet(name, data, settings)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if text, err := library.Get(name); err == nil {
		return ParseSet(library.File(name), text, settings)
	}
	if strings.ContainsAny(name, "./") {
		return nil, fmt.Errorf("%s: no such file", name)
	}
	var names []string
	for _, e := range library.List() {
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("%q is neither a file nor a scenario of the library: %swant one of %s", name, didYouMean(name, names), strings.Join(names, ", "))
}

// isHPCC tells a configuration of the HPCC model from a scenario by its name.
func isHPCC(name string) bool { return filepath.Ext(name) == ".txt" }

// loadHPCC reads a configuration of the HPCC model. Settings apply to the
// scenario that it is turned into.
func loadHPCC(name string, settings []string) (*Spec, error) {
	c, err := hpcc.Read(name, ReadBounded)
	if err != nil {
		return nil, err
	}
	compat := CompatNone
	var rest []string
	for _, set := range settings {
		if key, value, _ := strings.Cut(set, "="); strings.TrimSpace(key) == "compat" {
			compat = strings.TrimSpace(value)
			if compat != CompatNone && compat != CompatHPCC {
				return nil, fmt.Errorf("compat: %q: want none or hpcc", compat)
			}
			continue
		}
		rest = append(rest, set)
	}
	s, err := FromHPCC(c, name, compat)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		if s, err = s.with(name, rest); err != nil {
			return nil, err
		}
		s.hpccCase = c
	}
	return s, Validate(s)
}

// with returns the scenario after settings; fabric and flows stay those of the
// files.
func (s *Spec) with(file string, settings []string) (*Spec, error) {
	for _, set := range settings {
		if head, _, _ := strings.Cut(strings.TrimSpace(set), "."); head == "traffic" || head == "topology" {
			return nil, fmt.Errorf("--set %s: the %s of this run is that of %s", printable(set), head, file)
		}
	}
	small := *s
	small.Topology, small.Traffic = standIn()
	text, _, err := Resolved(&small)
	if err != nil {
		return nil, err
	}
	n, err := ParseSet(file+" as a scenario", text, settings)
	if err != nil {
		return nil, err
	}
	n.Topology, n.Traffic, n.Description, n.Dir = s.Topology, s.Traffic, s.Description, s.Dir
	return n, nil
}

// standIn is a small topology and traffic in place of long lists.
func standIn() (Member, []TrafficSpec) {
	t, w := Member{Name: "star"}, Member{Name: "permutation"}
	if e, err := topology.Topologies.Lookup(t.Name); err == nil {
		t.Params = e.Defaults
	}
	if e, err := workload.Workloads.Lookup(w.Name); err == nil {
		w.Params = e.Defaults
	}
	return t, []TrafficSpec{{Member: w}}
}

// maxForeign bounds files of other formats.
const maxForeign = 1 << 30

// ReadBounded reads a file of another format, of at most 1 GiB.
func ReadBounded(name string) ([]byte, error) { return readRegular(name, maxForeign) }

// readBeside reads a file that a scenario names: beside the scenario, or anywhere
// by its absolute path.
func (s *Spec) readBeside(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		return readRegular(filepath.Join(s.Dir, name), maxForeign)
	}
	return readRegular(name, maxForeign)
}

// readRegular reads a file of at most that many bytes. Devices and pipes, which
// may have no end or never begin, are refused unopened.
func readRegular(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is a %s: want a regular file", name, kindOf(info.Mode()))
	case info.Size() > most:
		return nil, fmt.Errorf("%s: %d bytes: want at most %d", name, info.Size(), most)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: more than %d bytes", name, most)
	}
	return data, err
}

// kindOf names what is not a regular file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeDevice != 0:
		return "device"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	}
	return "special file"
}
