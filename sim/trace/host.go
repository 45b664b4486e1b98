package trace

import (
	"bufio"
	"os"
	"runtime"
	"strings"
	"sync"
)

// ThisHost returns the facts of the machine that the program runs on.
func ThisHost() Host {
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), CPUs: runtime.NumCPU(), Go: runtime.Version()}
}

// cpuModel returns the processor's name where the system tells it as Linux does.
var cpuModel = sync.OnceValue(readCPUModel)

func readCPUModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
