package scenarios

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"rdmasim/scenarios/library"
)

// Whatever a file and settings say: an *Error of one line, or a spec that
// resolves to a file which parses to the same.
func FuzzParse(f *testing.F) {
	for _, e := range library.List() {
		text, err := library.Get(e.Name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "seed=2")
	}
	for _, setting := range []string{"", "switch.ecn.3.kmin=200KB", "traffic.0.incast.senders=[h1, h2]", "topology.star.hosts=3", "nic.congestion={dcqcn: {preset: hpcc}}",
		"switches=[{match: '*', mode: cut_through}]", "nic.frame={}", "nics.0.match=h*", "links=[{a: h0, b: sw0, loss: 1e-9}]", "expect=[flows.failed == 0]", "a=*b", "a=&b c", "x=[1", "switch.dscp_map={1: 2}"} {
		f.Add([]byte(small), setting)
		f.Add([]byte(referenceExample), setting)
	}
	for _, text := range []string{"", "a: &a [*a]", "? [x]\n: y", "a: !!binary x", "- - - -", "{{{{", "a: |\n x\n", "topology: {custom: {nodes: [{name: a, kind: host}], links: []}}\ntraffic: [flows]\n",
		"duration: until_done\ntopology: ring\ntraffic: [{flows: {list: [{from: h0, to: h1, size: 1B}]}}]\n", "%YAML 1.2\n---\na: 1\n...\n", "\ufeffa: 1", "a: \"\\x00\"", "topology: star\ntraffic:\n- incast:\n    receiver: !!str x\n"} {
		f.Add([]byte(text), "")
	}
	f.Fuzz(func(t *testing.T, data []byte, setting string) {
		var settings []string
		if setting != "" {
			settings = []string{setting}
		}
		s, err := ParseSet("s.yaml", data, settings)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\r") || !utf8.ValidString(err.Error()) {
				t.Fatalf("%#v", err.Error())
			}
			return
		}
		roundTrip(t, s)
		Lint(s)
	})
}
