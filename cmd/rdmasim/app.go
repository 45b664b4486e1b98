package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// app is what the commands stand on: the streams they write to and the product
// behind them. Tests put their own functions in.
type app struct {
	stdout, stderr io.Writer
	// terminal tells whether stderr is one, so that a line may be rewritten.
	terminal bool
	// interrupts returns a context that ends at the first SIGINT or SIGTERM;
	// the next one kills the program. onFirst is called at the first.
	interrupts func(ctx context.Context, onFirst func()) (context.Context, func())

	profiles profiles
	product
}

// newApp returns the real application.
func newApp(stdout, stderr io.Writer) *app {
	return &app{stdout: stdout, stderr: stderr, terminal: isTerminal(stderr), interrupts: onInterrupt, product: realProduct()}
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, a *app, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	err := errors.Join(root.ExecuteContext(ctx), a.profiles.stop())
	if err != nil {
		printError(a.stderr, err)
	}
	return exitCode(err)
}

// isTerminal reports whether w is a character device.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// errInterrupted is the cause of a context ended by a signal.
var errInterrupted = errors.New("interrupted")

// onInterrupt is app.interrupts for a real process.
func onInterrupt(ctx context.Context, onFirst func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals) // the next one has its default effect
			onFirst()
			cancel(errInterrupted)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
