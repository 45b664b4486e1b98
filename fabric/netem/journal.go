package netem

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Journal is a file in which every change of the host stands before it is made,
// so that it can be undone whatever becomes of the program. It is locked while
// its owner lives.
type Journal struct {
	path string
	file *os.File
	done []Change
}

// DefaultJournals is the folder of journals; it does not outlive a reboot, as
// the changes themselves do not.
const DefaultJournals = "/run/rdmasim"

// OpenJournal makes a new journal in a folder.
func OpenJournal(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "*.journal")
	if err != nil {
		return nil, err
	}
	j := &Journal{path: f.Name(), file: f}
	if err := Lock(f); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return j, nil
}

// Path returns the file of the journal.
func (j *Journal) Path() string { return j.path }

// Apply makes a change after writing it down.
func (j *Journal) Apply(ctx context.Context, r Runner, c Change) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", j.path, err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", j.path, err)
	}
	if _, err := r.Run(ctx, c.Do); err != nil {
		return err
	}
	j.done = append(j.done, c)
	return nil
}

// Revert takes back changes that were made, last first; the others stay.
func (j *Journal) Revert(ctx context.Context, r Runner, changes []Change) error {
	j.done = slices.DeleteFunc(j.done, func(d Change) bool {
		return slices.ContainsFunc(changes, func(c Change) bool { return slices.Equal(c.Do, d.Do) })
	})
	return undo(ctx, r, changes)
}

// Undo takes all changes back, last first, and removes the journal where all
// of them succeeded.
func (j *Journal) Undo(ctx context.Context, r Runner) error {
	err := undo(ctx, r, j.done)
	if err != nil {
		return errors.Join(err, j.file.Close())
	}
	return errors.Join(os.Remove(j.path), j.file.Close())
}

func undo(ctx context.Context, r Runner, done []Change) error {
	var errs []error
	for _, c := range slices.Backward(done) {
		if c.Undo == nil {
			continue
		}
		if _, err := r.Run(ctx, c.Undo); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Clean undoes the journals of a folder whose owners are gone, and returns how
// many there were. A change that cannot be undone counts as gone already.
func Clean(ctx context.Context, dir string, r Runner) (int, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	if err != nil {
		return 0, err
	}
	n := 0
	var errs []error
	for _, path := range files {
		cleaned, err := cleanOne(ctx, path, r)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
		if cleaned {
			n++
		}
	}
	return n, errors.Join(errs...)
}

func cleanOne(ctx context.Context, path string, r Runner) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := Lock(f); err != nil {
		return false, nil //nolint:nilerr // its owner lives
	}
	var done []Change
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 64<<10), 1<<20)
	for sc.Scan() {
		var c Change
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			break // the last line was cut short: its change was not made
		}
		done = append(done, c)
	}
	if err := sc.Err(); err != nil {
		return false, err
	}
	// A change that stands in the journal may not have been made, or was made
	// by hand undone since: that undoing it fails then is no fault.
	_ = undo(ctx, r, done)
	return true, os.Remove(path)
}

// Lock locks a file for this process alone until it is closed, however that happens.
func Lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
