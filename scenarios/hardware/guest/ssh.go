package guest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sshPrograms are what machines reach each other with.
var sshPrograms = map[string]string{"usr/bin/ssh": "ssh", "usr/bin/ssh-keygen": "ssh-keygen", "usr/sbin/sshd": "sshd"}

// sshTree is where the packages of OpenSSH are unpacked.
func (im Image) sshTree() string { return filepath.Join(filepath.Dir(im.Initrd), "openssh") }

// openSSH returns the programs of OpenSSH with their libraries, path in the image
// to file. What this host lacks is downloaded and unpacked beside the image, never
// installed: the package of the server would start one.
func (im Image) openSSH(ctx context.Context) (map[string]string, error) {
	tree := im.sshTree()
	files := map[string]string{}
	for _, to := range sorted(sshPrograms) {
		if from, err := look(sshPrograms[to]); err == nil {
			files[to] = from
			continue
		}
		if !exists(filepath.Join(tree, to)) {
			if err := unpackSSH(ctx, tree); err != nil {
				return nil, err
			}
		}
		files[to] = filepath.Join(tree, to)
	}
	for _, root := range []string{"/", tree} { // since OpenSSH 9.8
		helpers, _ := filepath.Glob(filepath.Join(root, "usr/lib/openssh/sshd-*"))
		for _, h := range helpers {
			files["usr/lib/openssh/"+filepath.Base(h)] = h
		}
	}
	return files, closure(files, tree)
}

// unpackSSH leaves the server, the client and those of their libraries that this
// host lacks below tree.
func unpackSSH(ctx context.Context, tree string) error {
	parent := filepath.Dir(tree)
	tmp, err := os.MkdirTemp(parent, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.MkdirAll(filepath.Join(tmp, "partial"), 0o755); err != nil {
		return err
	}
	if err := command(ctx, tmp, "apt-get", "install", "-y", "--download-only", "--no-install-recommends",
		"-o", "Dir::Cache::archives="+tmp, "-o", "Debug::NoLocking=true", "openssh-server", "openssh-client"); err != nil {
		return err
	}
	debs, _ := filepath.Glob(filepath.Join(tmp, "*.deb"))
	root := filepath.Join(tmp, "root")
	for _, d := range debs {
		if err := command(ctx, tmp, "dpkg-deb", "-x", d, root); err != nil {
			return err
		}
	}
	if !exists(filepath.Join(root, "usr/sbin/sshd")) {
		return fmt.Errorf("%w: sshd, in none of the %d packages that apt-get downloads for openssh-server", ErrMissing, len(debs))
	}
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	return os.Rename(root, tree)
}

// withRoots returns the folders of libraries below each root, those of this host last.
func withRoots(roots []string) []string {
	var list []string
	for _, r := range roots {
		for _, d := range libraryDirs {
			list = append(list, filepath.Join(r, d))
		}
	}
	return append(list, libraryDirs...)
}

// below takes the root off the path of a file.
func below(from string, roots []string) string {
	for _, r := range roots {
		if rest, ok := strings.CutPrefix(from, r+"/"); ok {
			return "/" + rest
		}
	}
	return from
}

// accounts are the users of the image: sshd wants one of its own.
const accounts = "root:*:0:0:root:/root:/bin/sh\nsshd:*:100:65534::/run/sshd:/bin/false\n"
