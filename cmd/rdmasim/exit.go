package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Exit codes of every command.
const (
	exitOK     = 0 // done, and every expectation held
	exitExpect = 1 // the run is complete and an expectation failed
	exitInput  = 2 // bad input or usage: nothing was run, nothing was left behind
	exitRun    = 3 // the run itself failed, or was cut short and is partial
)

// exitError carries the exit code of a failure. A nil err is silent: what
// there was to say has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// inputError marks err as bad input.
func inputError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitInput, err}
}

// runError marks err as a failure of the run.
func runError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitRun, err}
}

// exitCode returns the code of an error that came out of a command: what is
// not marked is usage.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	default:
		return exitInput
	}
}

// printError writes each error joined in err on one line of its own.
func printError(w io.Writer, err error) {
	var e *exitError
	if errors.As(err, &e) {
		if e.err == nil {
			return
		}
		err = e.err
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			printError(w, one)
		}
		return
	}
	fmt.Fprintf(w, "rdmasim: %s\n", oneLine(err.Error()))
}

// oneLine joins the lines of s, so that one error is one line of a log.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "; ")
}
