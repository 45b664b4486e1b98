package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Stream creates a file of the run directory that is written piece by piece.
// The caller closes it before Finish.
func (w *Writer) Stream(name string) (*os.File, error) {
	if slices.Contains(owned, name) {
		return nil, fmt.Errorf("%s is written by the Writer itself", name)
	}
	path := w.path(name)
	if !filepath.IsLocal(filepath.FromSlash(name)) || path == w.dir.tmp {
		return nil, fmt.Errorf("%q is not the name of a file in a run directory", name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}
