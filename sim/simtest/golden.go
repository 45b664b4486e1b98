// Package simtest is what tests of every package share: golden files.
package simtest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/*.golden from what the tests produce")

// Updating reports whether tests write the files that they compare with.
func Updating() bool { return *update }

// context is how many equal lines are shown before a difference.
const context = 2

// Golden compares got with testdata/NAME.golden of the package under test. With
// -update it writes the file instead; the change is then read line by line
// before it is committed.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with: go test -run '^%s$' -update)", err, t.Name())
	}
	if d := firstDifference(want, got); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

// firstDifference shows the first lines that differ, or "" if none do.
func firstDifference(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	w, g := bytes.SplitAfter(want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	at := 0
	for at < len(w) && at < len(g) && bytes.Equal(w[at], g[at]) {
		at++
	}
	var b bytes.Buffer
	for i := max(at-context, 0); i < at; i++ {
		fmt.Fprintf(&b, "%6d   %q\n", i+1, w[i])
	}
	for _, side := range []struct {
		sign  byte
		lines [][]byte
	}{{'-', w}, {'+', g}} {
		for i := at; i < len(side.lines) && i < at+3; i++ {
			fmt.Fprintf(&b, "%6d %c %q\n", i+1, side.sign, side.lines[i])
		}
	}
	return b.String()
}
