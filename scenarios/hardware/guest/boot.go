package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Job is what a guest does between boot and power off.
type Job struct {
	Script   string            // run by /bin/dash in the shared folder, as root
	Programs map[string]string // path in the guest (without leading slash) to file of the host
	Share    string            // folder of the host, /share in the guest
	Console  io.Writer         // gets what the guest prints; nil = nowhere
	Timeout  time.Duration     // for all of it; 0 = 200 s
	MemoryMB int               // of each machine; 0 = 1024
	Machines int               // 0 or 1 = one with two devices; more = the script runs on a, which reaches b, c and d by ssh
	// Counted makes the guest's time the number of its instructions, 2 ns each, so
	// that what it measures does not depend on how busy the host is.
	Counted bool
}

// ErrGuest is wrapped by the error of a guest that did not come to the end of
// its script.
var ErrGuest = errors.New("the guest did not finish")

// Run boots the image, runs the job's script, and returns its exit status.
func (im Image) Run(ctx context.Context, j Job) (int, error) {
	tmp, err := os.MkdirTemp("", "rdmasim-guest-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	share := j.Share
	if share == "" {
		share = filepath.Join(tmp, "share")
		if err := os.Mkdir(share, 0o755); err != nil {
			return 0, err
		}
	}
	if j.Timeout == 0 {
		j.Timeout = 200 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	if j.Machines > 1 {
		return im.runMachines(ctx, tmp, share, j)
	}
	return im.boot(ctx, tmp, share, j, 0)
}

// boot boots machine number i of a job and returns the status of its script.
// Software emulation is used: /dev/kvm is not asked for.
func (im Image) boot(ctx context.Context, tmp, share string, j Job, i int) (int, error) {
	initrd, err := im.withJob(tmp, j, i)
	if err != nil {
		return 0, err
	}
	done := filepath.Join(share, "exit")
	if err := os.Remove(done); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	memory := j.MemoryMB
	if memory == 0 {
		memory = 1024
	}
	qemu, err := look("qemu-system-x86_64")
	if err != nil {
		return 0, err
	}
	accel := []string{"-accel", "tcg,thread=multi"}
	if j.Counted {
		// shift: 2^1 ns for an instruction; sleep=off: an idle guest does not wait for
		// its next timer but begins there.
		accel = []string{"-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off"}
	}
	args := append(accel, "-M", "pc", "-cpu", "max", "-smp", "1", "-m", strconv.Itoa(memory),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
		"-kernel", im.Kernel, "-initrd", initrd, "-append", "console=ttyS0 panic=-1 quiet mitigations=off nokaslr rdinit=/init",
		"-virtfs", "local,path="+strings.ReplaceAll(share, ",", ",,")+",mount_tag=share,security_model=none")
	if j.Machines > 1 {
		args = append(args, nics(tmp, i, j.Machines)...)
	}
	c := exec.CommandContext(ctx, qemu, args...)
	tail := &lastLines{next: j.Console}
	c.Stdout, c.Stderr = tail, tail
	c.WaitDelay = 2 * time.Second
	err = c.Run()
	b, readErr := os.ReadFile(done)
	switch {
	case readErr == nil:
	case ctx.Err() != nil:
		return 0, fmt.Errorf("%w within %v: %w; its last lines:\n%s", ErrGuest, j.Timeout, ctx.Err(), tail)
	default:
		return 0, fmt.Errorf("%w: %w; its last lines:\n%s", ErrGuest, errors.Join(err, readErr), tail)
	}
	status, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("%w: exit status %q", ErrGuest, b)
	}
	return status, nil
}

// withJob returns the image followed by an archive of the own files of machine
// number i of a job.
func (im Image) withJob(tmp string, j Job, i int) (string, error) {
	path := filepath.Join(tmp, "initrd-"+machineName(i))
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	base, err := os.Open(im.Initrd)
	if err != nil {
		return "", err
	}
	defer base.Close()
	if _, err := io.Copy(out, base); err != nil {
		return "", err
	}
	files := map[string]string{}
	for to, from := range j.Programs {
		files[to] = from
	}
	if err := closure(files, im.sshTree()); err != nil {
		return "", err
	}
	a := newArchive(out)
	for _, to := range sorted(files) {
		if err := a.file(to, files[to]); err != nil {
			return "", err
		}
	}
	texts := map[string]string{}
	if j.Machines > 1 {
		texts = machineFiles(i, j.Machines)
	}
	texts["run.sh"] = j.Script + "\n"
	for _, to := range sorted(texts) {
		if err := a.text(to, texts[to]); err != nil {
			return "", err
		}
	}
	if err := a.close(); err != nil {
		return "", err
	}
	return path, out.Close()
}

// lastLines keeps the end of what is written, and hands all of it on.
type lastLines struct {
	next io.Writer
	tail []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.tail = append(l.tail, p...)
	if n := len(l.tail) - 4096; n > 0 {
		l.tail = append(l.tail[:0], l.tail[n:]...)
	}
	if l.next != nil {
		if _, err := l.next.Write(p); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (l *lastLines) String() string { return strings.TrimSpace(string(l.tail)) }
