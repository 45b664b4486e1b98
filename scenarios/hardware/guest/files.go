package guest

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// libraryDirs are searched for shared libraries, in order.
var libraryDirs = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}

// closure adds the shared libraries and the loader that ELF files need, as
// path in the image -> file of the host. Roots are folders that are searched
// before the host's own.
func closure(files map[string]string, roots ...string) error {
	dirs := withRoots(roots)
	todo := sorted(files)
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		needed, err := needs(files[path])
		if err != nil {
			return fmt.Errorf("%s: %w", files[path], err)
		}
		for _, lib := range needed {
			from := lib
			if !filepath.IsAbs(lib) {
				if from = find(lib, dirs); from == "" {
					return fmt.Errorf("%s needs %s, which is in none of %s", files[path], lib, strings.Join(dirs, ", "))
				}
			}
			to := place(below(from, roots))
			if _, ok := files[to]; !ok {
				files[to] = from
				todo = append(todo, to)
			}
		}
	}
	return nil
}

// place returns where a library of the host lies in the image, whose /lib and
// /lib64 are links into /usr as they are on Debian.
func place(from string) string {
	to := strings.TrimPrefix(from, "/")
	if strings.HasPrefix(to, "lib") {
		to = "usr/" + to
	}
	return to
}

func find(lib string, dirs []string) string {
	for _, d := range dirs {
		p := filepath.Join(d, lib)
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return ""
}

// needs returns the libraries that an ELF file names, and its loader. A file
// that is no ELF needs none.
func needs(file string) ([]string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, nil //nolint:nilerr // a script or a configuration file
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			return nil, err
		}
		libs = append(libs, strings.TrimRight(string(b), "\x00"))
	}
	return libs, nil
}
