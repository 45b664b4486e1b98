package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// staging is a run directory in the making: a sibling of the directory that it
// will become, so that nobody ever sees half a run under its name.
type staging struct {
	target string
	tmp    string
	made   []string // parents that did not exist before, innermost first
	before string   // manifest of the run that was at target when this one began
}

// stage makes the temporary directory. What is already at dir must be absent,
// empty, or a run.
func stage(dir string) (*staging, error) {
	target, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real
	}
	if err := replaceable(target); err != nil {
		return nil, err
	}
	s := &staging{target: target, before: manifestAt(target)}
	parent := filepath.Dir(target)
	for p := parent; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); err == nil || p == filepath.Dir(p) {
			break
		}
		s.made = append(s.made, p)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		s.discard()
		return nil, err
	}
	s.tmp, err = os.MkdirTemp(parent, filepath.Base(target)+".partial-*")
	if err == nil {
		err = os.Chmod(s.tmp, 0o755)
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// replaceable says why what is at path must not be replaced by a run, or nil.
func replaceable(path string) error {
	entries, err := OutputEntries(path)
	if err != nil || len(entries) == 0 {
		return err
	}
	if p, err := os.ReadFile(filepath.Join(path, FileManifest)); err == nil && isManifest(p) {
		return nil
	}
	return Occupied(path, "no run directory")
}

// manifestAt returns the manifest of the run at a path, "" if there is none.
func manifestAt(path string) string {
	p, err := os.ReadFile(filepath.Join(path, FileManifest))
	if err != nil {
		return ""
	}
	return string(p)
}

// aside chooses another name where a run has come to be at target since this
// one began: two runs that were given one name both stay.
func (s *staging) aside() {
	if now := manifestAt(s.target); now == "" || now == s.before {
		return
	}
	for n := 2; ; n++ {
		other := fmt.Sprintf("%s-%d", s.target, n)
		if _, err := os.Lstat(other); errors.Is(err, fs.ErrNotExist) {
			s.target = other
			return
		}
	}
}

// publish gives the temporary directory its name; a run that had it when this
// one began is removed after that.
func (s *staging) publish() error {
	s.aside()
	if err := replaceable(s.target); err != nil {
		return err
	}
	old := ""
	if _, err := os.Stat(s.target); err == nil {
		old = s.tmp + ".old"
		if err := os.Rename(s.target, old); err != nil {
			return err
		}
	}
	if err := os.Rename(s.tmp, s.target); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, s.target))
		}
		return err
	}
	s.tmp, s.made = "", nil
	if old != "" {
		return os.RemoveAll(old)
	}
	return nil
}

// discard removes everything that staging made.
func (s *staging) discard() {
	if s.tmp != "" {
		_ = os.RemoveAll(s.tmp)
	}
	for _, p := range s.made {
		_ = os.Remove(p) // only if empty: others may have used it
	}
	s.tmp, s.made = "", nil
}
