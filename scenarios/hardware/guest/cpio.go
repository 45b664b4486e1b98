package guest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sort"
)

// archive writes an initramfs: the "newc" form of cpio, see
// Documentation/driver-api/early-userspace/buffer-format.rst of Linux.
type archive struct {
	w    *bufio.Writer
	n    int64
	ino  int
	seen map[string]bool
}

// Modes of archive members.
const (
	modeDir  = 0o040755
	modeFile = 0o100755
	modeLink = 0o120777
	modeChar = 0o020600
)

func newArchive(w io.Writer) *archive {
	return &archive{w: bufio.NewWriterSize(w, 1<<20), seen: map[string]bool{}}
}

func (a *archive) pad() error {
	for a.n%4 != 0 {
		if err := a.w.WriteByte(0); err != nil {
			return err
		}
		a.n++
	}
	return nil
}

func (a *archive) header(name string, mode uint32, size int64, major, minor int) error {
	a.ino++
	h := fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
		a.ino, mode, 0, 0, 1, 0, size, 0, 0, major, minor, len(name)+1, 0, name)
	n, err := a.w.WriteString(h)
	a.n += int64(n)
	if err != nil {
		return err
	}
	return a.pad()
}

func (a *archive) body(r io.Reader) error {
	n, err := io.Copy(a.w, r)
	a.n += n
	if err != nil {
		return err
	}
	return a.pad()
}

// dirs adds the folders above a path once.
func (a *archive) dirs(path string) error {
	for i, c := range path {
		if c != '/' || i == 0 {
			continue
		}
		if err := a.dir(path[:i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) dir(path string) error {
	if a.seen[path] {
		return nil
	}
	a.seen[path] = true
	return a.header(path, modeDir, 0, 0, 0)
}

// file adds a file of the host under a path without leading slash.
func (a *archive) file(path, from string) error {
	if a.seen[path] {
		return nil
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if err := a.dirs(path); err != nil {
		return err
	}
	a.seen[path] = true
	if err := a.header(path, modeFile, st.Size(), 0, 0); err != nil {
		return err
	}
	return a.body(io.LimitReader(f, st.Size()))
}

func (a *archive) text(path, content string) error {
	if err := a.dirs(path); err != nil {
		return err
	}
	a.seen[path] = true
	if err := a.header(path, modeFile, int64(len(content)), 0, 0); err != nil {
		return err
	}
	n, err := a.w.WriteString(content)
	a.n += int64(n)
	if err != nil {
		return err
	}
	return a.pad()
}

func (a *archive) link(path, target string) error {
	if a.seen[path] {
		return nil
	}
	if err := a.dirs(path); err != nil {
		return err
	}
	a.seen[path] = true
	if err := a.header(path, modeLink, int64(len(target)), 0, 0); err != nil {
		return err
	}
	n, err := a.w.WriteString(target)
	a.n += int64(n)
	if err != nil {
		return err
	}
	return a.pad()
}

func (a *archive) device(path string, major, minor int) error {
	if err := a.dirs(path); err != nil {
		return err
	}
	return a.header(path, modeChar, 0, major, minor)
}

// close ends the archive. Another one may follow it in the same file.
func (a *archive) close() error {
	if err := a.header("TRAILER!!!", 0, 0, 0, 0); err != nil {
		return err
	}
	for a.n%512 != 0 {
		if err := a.w.WriteByte(0); err != nil {
			return err
		}
		a.n++
	}
	return a.w.Flush()
}

// sorted returns the keys of a map in order, so that equal inputs give equal images.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
