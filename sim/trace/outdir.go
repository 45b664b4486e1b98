package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OutputEntries returns what is in a directory that something will be written
// into: nothing where it does not exist yet. What is no directory is an error.
func OutputEntries(path string) ([]fs.DirEntry, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s: it exists and is no directory: give the name of a new one", path)
	}
	return os.ReadDir(path)
}

// CheckNew says why a directory is not a new or empty one, or nil.
func CheckNew(path string) error {
	entries, err := OutputEntries(path)
	if err == nil && len(entries) > 0 {
		err = Occupied(path, "not empty")
	}
	return err
}

// Occupied is the error for an output directory in which something else is: it
// is not empty, or no run directory.
func Occupied(path, what string) error {
	return fmt.Errorf("%s: it exists and is %s: give another name or remove it", path, what)
}

// WriteWhole writes a file whole or not at all: under its name there is never a
// part of it, whatever goes wrong.
func WriteWhole(name string, data []byte) error { return writeWhole(name, data, false) }

// WriteSynced is WriteWhole for what must be on the disk before others go on.
func WriteSynced(name string, data []byte) error { return writeWhole(name, data, true) }

func writeWhole(name string, data []byte, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".partial-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
