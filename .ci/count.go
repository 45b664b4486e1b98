// Count reads the output of `go test -json` on standard input, prints one line
// per package and the output of what failed, and writes "PASSED FAILED SKIPPED"
// to the file -totals. Every test and subtest counts one; a package that fails
// without a failing test (it does not build, it panics, it times out) counts
// one. It exits with 1 when something failed, or when nothing that matches a
// -must expression has passed.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// event is a line of test2json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// id tells tests of different packages apart; Test is "" for the package itself.
type id struct{ pkg, test string }

// counter collects what the events say.
type counter struct {
	out                     io.Writer
	passed, failed, skipped int
	output                  map[id]*strings.Builder
	failedIn                map[string]int
	must                    map[*regexp.Regexp]int
}

func main() {
	totals := flag.String("totals", "", "file to write the totals to")
	c := &counter{out: os.Stdout, output: map[id]*strings.Builder{}, failedIn: map[string]int{}, must: map[*regexp.Regexp]int{}}
	flag.Func("must", "a test whose name matches must pass", func(s string) error {
		re, err := regexp.Compile(s)
		c.must[re] = 0
		return err
	})
	flag.Parse()
	err := c.read(os.Stdin)
	for re, n := range c.must {
		fmt.Fprintf(c.out, "   %d passed that match %s\n", n, re)
		if n == 0 {
			c.failed++
		}
	}
	if *totals != "" && err == nil {
		err = os.WriteFile(*totals, fmt.Appendf(nil, "%d %d %d\n", c.passed, c.failed, c.skipped), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if c.failed > 0 {
		os.Exit(1)
	}
}

// read takes in a whole stream; lines that are no JSON are shown as they are.
func (c *counter) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				c.event(e)
			} else {
				fmt.Fprint(c.out, string(line))
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *counter) event(e event) {
	key := id{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(c.out, e.Output)
	case "output":
		if c.output[key] == nil {
			c.output[key] = &strings.Builder{}
		}
		c.output[key].WriteString(e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			c.endOfPackage(e)
		} else {
			c.endOfTest(e)
		}
		if e.Action != "fail" {
			delete(c.output, key)
		}
	}
}

func (c *counter) endOfTest(e event) {
	switch e.Action {
	case "pass":
		c.passed++
		for re := range c.must {
			if re.MatchString(e.Test) {
				c.must[re]++
			}
		}
	case "skip":
		c.skipped++
	case "fail":
		c.failed++
		c.failedIn[e.Package]++
	}
}

func (c *counter) endOfPackage(e event) {
	if e.Action != "fail" {
		if e.Action == "pass" {
			fmt.Fprintf(c.out, "   ok    %-32s %6.1f s\n", e.Package, e.Elapsed)
		}
		return
	}
	fmt.Fprintf(c.out, "   FAIL  %-32s %6.1f s\n", e.Package, e.Elapsed)
	if c.failedIn[e.Package] == 0 {
		c.failed++
	}
	for key, text := range c.output {
		if key.pkg == e.Package && (key.test != "" || c.failedIn[e.Package] == 0) {
			fmt.Fprint(c.out, text.String())
		}
	}
}
