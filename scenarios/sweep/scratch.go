package sweep

import (
	"os"
	"path/filepath"
	"syscall"
)

// memory is a file system in memory on Linux.
const memory = "/dev/shm"

const scratchPrefix = "rdmasim-sweep-"

// scratchParent returns the directory for what is gone afterwards: that of the
// environment, or memory where there is such a file system.
func scratchParent() string {
	if dir := os.Getenv("TMPDIR"); dir != "" {
		return dir
	}
	probe, err := os.MkdirTemp(memory, "rdmasim-probe-")
	if err != nil {
		return os.TempDir()
	}
	_ = os.Remove(probe)
	return memory
}

// ownScratch makes a directory for the runs of this process, and removes those
// of processes that were killed. The lock on a file in it says that its process
// lives, whatever machine or container that is in.
func ownScratch(parent string) (dir string, remove func(), err error) {
	sweepUp(parent)
	dir, err = os.MkdirTemp(parent, scratchPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, func() {
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}, nil
}

// sweepUp removes the directories whose lock nobody holds.
func sweepUp(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, scratchPrefix+"*"))
	for _, dir := range dirs {
		lock, err := os.Open(filepath.Join(dir, "lock"))
		if err != nil {
			continue // being made, or not ours
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}
