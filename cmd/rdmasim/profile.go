package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are the files that developers ask for with hidden flags.
type profiles struct {
	cpu, mem string
	file     *os.File
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
	if p.mem == "" {
		return nil
	}
	f, err := os.Create(p.mem)
	if err != nil {
		return err
	}
	runtime.GC()
	if err := pprof.WriteHeapProfile(f); err != nil {
		return err
	}
	return f.Close()
}
