// Package guest boots Debian's kernel with Soft-RoCE in an emulated machine: a
// lab with two RDMA devices on a pair of interfaces, for machines that have
// none. Nothing of the host is changed; the guest sees one shared folder.
package guest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed init.sh
var initScript string

//go:embed lab.sh
var labScript string

// Packages are the Debian packages of which kernel, programs and emulator come.
// The kernel's own package is downloaded and unpacked, never installed.
var Packages = []string{"qemu-system-x86", "seabios", "busybox-static", "dash", "kmod", "xz-utils", "iproute2",
	"libibverbs1", "ibverbs-providers", "ibverbs-utils", "librdmacm1", "rdmacm-utils", "perftest", "tcpdump", "nftables", "libgcc-s1"}

// ErrMissing is wrapped by the error that names what the host lacks.
var ErrMissing = errors.New("missing on this host")

// Image is a kernel and a root file system to boot it with.
type Image struct {
	Kernel, Initrd string
	Release        string // of the kernel
}

// programs are copied from the host; those with ? may be absent.
var programs = map[string]string{
	"bin/busybox": "busybox", "bin/dash": "dash", "usr/sbin/ip": "ip", "usr/sbin/tc": "tc", "usr/sbin/rdma": "rdma", "usr/sbin/bridge": "bridge",
	"usr/sbin/nft": "?nft", "usr/bin/tcpdump": "?tcpdump", "usr/bin/ibv_devinfo": "?ibv_devinfo", "usr/bin/ibv_rc_pingpong": "?ibv_rc_pingpong",
	"usr/bin/rping": "?rping", "usr/bin/ib_write_bw": "?ib_write_bw", "usr/bin/ib_send_lat": "?ib_send_lat", "usr/bin/ib_write_lat": "?ib_write_lat",
}

// libraries are loaded at run time, so that no program names them.
var libraries = []string{"libibverbs.so.1", "librdmacm.so.1", "libgcc_s.so.1", "libibverbs/librxe-rdmav34.so", "libc.so.6", "libdl.so.2", "libpthread.so.0"}

// hostFiles returns what the image takes from the host, path in the image to file.
func hostFiles() (map[string]string, error) {
	files := map[string]string{}
	var lacking []string
	for _, to := range sorted(programs) {
		name, optional := strings.CutPrefix(programs[to], "?")
		from, err := look(name)
		switch {
		case err == nil:
			files[to] = from
		case !optional:
			lacking = append(lacking, name)
		}
	}
	for _, l := range libraries {
		from := find(l, libraryDirs)
		if from == "" {
			lacking = append(lacking, l)
			continue
		}
		files[place(from)] = from
	}
	for _, p := range []string{"qemu-system-x86_64", "depmod", "xz", "dpkg-deb", "apt-get", "apt-cache"} {
		if _, err := look(p); err != nil {
			lacking = append(lacking, p)
		}
	}
	if len(lacking) > 0 {
		return nil, fmt.Errorf("%w: %s; on Debian: apt-get install --no-install-recommends %s", ErrMissing, strings.Join(lacking, ", "), strings.Join(Packages, " "))
	}
	for _, d := range libraryDirs { // delay distributions and action plugins of tc
		found, _ := filepath.Glob(filepath.Join(d, "tc", "*"))
		for _, f := range found {
			files[place(f)] = f
		}
	}
	files["etc/libibverbs.d/rxe.driver"] = "/etc/libibverbs.d/rxe.driver"
	return files, closure(files)
}

// look finds a program, also where only root's PATH leads.
func look(name string) (string, error) {
	if p, err := exec.LookPath(name); err == nil {
		return p, nil
	}
	for _, d := range []string{"/usr/sbin", "/sbin"} {
		p := filepath.Join(d, name)
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("%w: %s", ErrMissing, name)
}

// Build makes the image in dir, or takes the one that is there already for the
// same kernel and programs. It needs a Debian host with Packages; log gets one
// line per step.
func Build(ctx context.Context, dir string, log io.Writer) (Image, error) {
	files, err := hostFiles()
	if err != nil {
		return Image{}, err
	}
	pkg, err := kernelPackage(ctx)
	if err != nil {
		return Image{}, err
	}
	key, err := imageKey(pkg, files)
	if err != nil {
		return Image{}, err
	}
	release := strings.TrimPrefix(pkg, "linux-image-")
	im := Image{Kernel: filepath.Join(dir, "vmlinux-"+release), Initrd: filepath.Join(dir, "initrd-"+key), Release: release}
	if exists(im.Kernel) && exists(im.Initrd) {
		return im, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Image{}, err
	}
	tmp, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return Image{}, err
	}
	defer os.RemoveAll(tmp)
	fmt.Fprintf(log, "guest: downloading %s\n", pkg)
	tree, err := unpackKernel(ctx, tmp, pkg, release)
	if err != nil {
		return Image{}, err
	}
	fmt.Fprintf(log, "guest: building the image for Linux %s\n", release)
	if err := writeInitrd(filepath.Join(tmp, "initrd"), tree, release, files); err != nil {
		return Image{}, err
	}
	if err := os.Rename(filepath.Join(tmp, "initrd"), im.Initrd); err != nil {
		return Image{}, err
	}
	return im, os.Rename(filepath.Join(tmp, "vmlinux"), im.Kernel)
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

// imageKey names an image by all that goes into it.
func imageKey(pkg string, files map[string]string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, pkg, initScript, labScript, accounts, modules)
	for _, to := range sorted(files) {
		st, err := os.Stat(files[to])
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, to, files[to], st.Size(), st.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// kernelPackage resolves the package that linux-image-amd64 stands for.
func kernelPackage(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-cache", "depends", "linux-image-amd64").Output()
	if err != nil {
		return "", fmt.Errorf("apt-cache depends linux-image-amd64: %w", err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if _, pkg, ok := strings.Cut(line, "Depends: linux-image-"); ok {
			return "linux-image-" + strings.TrimSpace(pkg), nil
		}
	}
	return "", fmt.Errorf("apt-cache knows no kernel under linux-image-amd64: run apt-get update")
}

// unpackKernel leaves the uncompressed kernel as tmp/vmlinux and returns the
// folder of its modules.
func unpackKernel(ctx context.Context, tmp, pkg, release string) (string, error) {
	if err := command(ctx, tmp, "apt-get", "download", pkg); err != nil {
		return "", err
	}
	debs, _ := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if len(debs) != 1 {
		return "", fmt.Errorf("apt-get download %s left %d packages", pkg, len(debs))
	}
	root := filepath.Join(tmp, "root")
	if err := command(ctx, tmp, "dpkg-deb", "-x", debs[0], root); err != nil {
		return "", err
	}
	image, err := os.ReadFile(filepath.Join(root, "boot", "vmlinuz-"+release))
	if err != nil {
		return "", err
	}
	at := bytes.Index(image, []byte("\xfd7zXZ\x00"))
	if at < 0 {
		return "", fmt.Errorf("the kernel of %s is not compressed with xz", pkg)
	}
	out, err := os.Create(filepath.Join(tmp, "vmlinux"))
	if err != nil {
		return "", err
	}
	defer out.Close()
	xz := exec.CommandContext(ctx, "xz", "-dc", "--single-stream")
	xz.Stdin, xz.Stdout = bytes.NewReader(image[at:]), out
	if err := xz.Run(); err != nil {
		return "", fmt.Errorf("xz: %w", err)
	}
	depmod, err := look("depmod")
	if err != nil {
		return "", err
	}
	if err := command(ctx, tmp, depmod, "-b", root, release); err != nil {
		return "", err
	}
	return filepath.Join(root, "lib", "modules", release), out.Close()
}

func command(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

func writeInitrd(path, tree, release string, files map[string]string) error {
	dep, err := os.Open(filepath.Join(tree, "modules.dep"))
	if err != nil {
		return err
	}
	defer dep.Close()
	order, _, err := loadOrder(dep, modules)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	a := newArchive(f)
	if err := a.link("lib", "usr/lib"); err != nil {
		return err
	}
	var list strings.Builder
	for _, m := range order {
		to := "usr/lib/modules/" + release + "/" + m
		if err := a.file(to, filepath.Join(tree, m)); err != nil {
			return err
		}
		fmt.Fprintf(&list, "/%s\n", to)
	}
	for _, to := range sorted(files) {
		if err := a.file(to, files[to]); err != nil {
			return err
		}
	}
	for _, s := range [][2]string{{"init", initScript}, {"lab.sh", labScript}, {"modules.list", list.String()}, {"etc/hosts", "127.0.0.1 localhost\n"}, {"etc/passwd", accounts}} {
		if err := a.text(s[0], s[1]); err != nil {
			return err
		}
	}
	for _, err := range []error{a.dir("dev"), a.device("dev/console", 5, 1), a.link("lib64", "usr/lib64"), a.link("bin/sh", "dash"), a.close()} {
		if err != nil {
			return err
		}
	}
	return f.Close()
}
