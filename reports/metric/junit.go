package metric

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"

	"rdmasim/sim/trace"
)

// The elements of JUnit's XML that test reporters agree on.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the verdicts of m as the XML of a test suite named after the run.
func (m *Metrics) JUnit() ([]byte, error) {
	s := junitSuite{Name: m.Run.Name, Tests: len(m.Expect)}
	for _, v := range m.Expect {
		c := junitCase{Class: "rdmasim." + strings.ReplaceAll(m.Run.Name, ".", "_"), Name: v.Text}
		if !v.OK {
			s.Failures++
			c.Failure = &junitFailure{Message: v.Why, Text: fmt.Sprintf("expected %s, but %s (seed %d)", v.Text, v.Why, m.Run.Seed)}
		}
		s.Cases = append(s.Cases, c)
	}
	p, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(p, '\n')...), nil
}

// WriteJUnit writes expect.xml into a run directory, if there are expectations.
func (m *Metrics) WriteJUnit(dir string) error {
	if len(m.Expect) == 0 {
		return nil
	}
	p, err := m.JUnit()
	if err != nil {
		return fmt.Errorf("%s: %w", trace.FileExpect, err)
	}
	return trace.WriteWhole(filepath.Join(dir, trace.FileExpect), p)
}
