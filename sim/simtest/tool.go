package simtest

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// toolLock lets one test at a time install packages.
var toolLock sync.Mutex

// Tool returns the path of a program that Debian has, and skips the test where
// it is absent and cannot be installed: only root may, where apt-get is.
func Tool(t testing.TB, program, debianPackage string) string {
	t.Helper()
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	if testing.Short() {
		t.Skipf("%s is absent", program)
	}
	apt, err := exec.LookPath("apt-get")
	if os.Geteuid() != 0 || err != nil {
		t.Skipf("%s is absent: install %s", program, debianPackage)
	}
	toolLock.Lock()
	defer toolLock.Unlock()
	if _, err := exec.LookPath(program); err != nil {
		install(t, apt, debianPackage)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is absent, and %s could not be installed", program, debianPackage)
	}
	return path
}

// install runs apt-get, and once more after an update.
func install(t testing.TB, apt, debianPackage string) {
	run := func(args ...string) bool {
		cmd := exec.Command(apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.WaitDelay = time.Minute
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("apt-get %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return err == nil
	}
	if !run("install", "-y", "--no-install-recommends", debianPackage) && run("update") {
		run("install", "-y", "--no-install-recommends", debianPackage)
	}
}

// Tshark runs tshark on a capture and returns what it prints, line by line.
func Tshark(t testing.TB, file string, args ...string) []string {
	t.Helper()
	tshark := Tool(t, "tshark", "tshark")
	cmd := exec.Command(tshark, append([]string{"-n", "-r", file}, args...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	text := strings.TrimRight(string(out), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
