package metric

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Suite is the verdicts of one scenario among several.
type Suite struct {
	Name     string
	Seconds  float64 // of real time
	Verdicts []Verdict
	Error    string // the run itself failed, in words
	Skipped  string // it was not run, in words
}

// The elements of JUnit's XML for several suites.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []timedSuite `xml:"testsuite"`
	}
	timedSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []timedCase `xml:"testcase"`
	}
	timedCase struct {
		junitCase
		Error   *junitFailure `xml:"error,omitempty"`
		Skipped *junitFailure `xml:"skipped,omitempty"`
	}
)

// JUnitSuites returns the verdicts of several scenarios in JUnit's XML.
func JUnitSuites(list []Suite) ([]byte, error) {
	all := junitSuites{}
	total := 0.0
	for i := range list {
		s := list[i].junit()
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
		total += list[i].Seconds
		all.Suites = append(all.Suites, s)
	}
	all.Time = fmt.Sprintf("%.3f", total)
	p, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(p, '\n')...), nil
}

func (s *Suite) junit() timedSuite {
	out := timedSuite{Name: s.Name, Time: fmt.Sprintf("%.3f", s.Seconds)}
	class := "rdmasim." + strings.ReplaceAll(s.Name, ".", "_")
	for _, v := range s.Verdicts {
		c := timedCase{junitCase: junitCase{Class: class, Name: v.Text}}
		if !v.OK {
			out.Failures++
			c.Failure = &junitFailure{Message: v.Why, Text: fmt.Sprintf("expected %s, but %s", v.Text, v.Why)}
		}
		out.Cases = append(out.Cases, c)
	}
	switch {
	case s.Error != "":
		out.Errors++
		out.Cases = append(out.Cases, timedCase{junitCase: junitCase{Class: class, Name: "run"}, Error: &junitFailure{Message: s.Error}})
	case s.Skipped != "":
		out.Skipped++
		out.Cases = append(out.Cases, timedCase{junitCase: junitCase{Class: class, Name: "run"}, Skipped: &junitFailure{Message: s.Skipped}})
	}
	out.Tests = len(out.Cases)
	return out
}
