package main

import (
	"os"
	"runtime/pprof"
)

// profiles are the files that developers ask for with hidden flags. Memory is
// profiled by benchmarks (go test -memprofile): the runtime keeps a table of
// 1.5 MiB in a program that can do it.
type profiles struct {
	cpu  string
	file *os.File
}

// start begins what was asked for.
func (p *profiles) start() error {
	if p.cpu == "" {
		return nil
	}
	f, err := os.Create(p.cpu)
	if err != nil {
		return err
	}
	p.file = f
	return pprof.StartCPUProfile(f)
}

// stop writes what was asked for; it is called whether or not the command failed.
func (p *profiles) stop() error {
	if p.file != nil {
		pprof.StopCPUProfile()
		if err := p.file.Close(); err != nil {
			return err
		}
	}
	return nil
}
