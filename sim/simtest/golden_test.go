package simtest

import (
	"os"
	"testing"
)

// recorder is a testing.TB that remembers whether it failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return "TestX" }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true }
func (r *recorder) Fatal(...any)          { r.failed = true }

func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	fails := func(name, got string) bool {
		r := &recorder{TB: t}
		Golden(r, name, []byte(got))
		return r.failed
	}
	if !*update && !fails("a", "x\n") {
		t.Error("a file that does not exist must fail")
	}
	was := *update
	defer func() { *update = was }()
	*update = true
	if fails("deep/a", "x\ny\n") {
		t.Error("-update must write")
	}
	*update = false
	if p, err := os.ReadFile("testdata/deep/a.golden"); err != nil || string(p) != "x\ny\n" {
		t.Errorf("wrote %q, %v", p, err)
	}
	if fails("deep/a", "x\ny\n") {
		t.Error("what was written must pass")
	}
	if !fails("deep/a", "x\nz\n") || !fails("deep/a", "x\n") || !fails("deep/a", "") {
		t.Error("a difference must fail")
	}
}

func TestFirstDifference(t *testing.T) {
	got := firstDifference([]byte("a\nb\nc\nd\n"), []byte("a\nb\nc\nD\n"))
	want := "     2   \"b\\n\"\n     3   \"c\\n\"\n     4 - \"d\\n\"\n     5 - \"\"\n     4 + \"D\\n\"\n     5 + \"\"\n"
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}
