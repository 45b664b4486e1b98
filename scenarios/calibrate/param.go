package calibrate

import (
	"fmt"
	"strings"

	"rdmasim/scenarios"
	"rdmasim/sim"
)

// Param is a value of a scenario that can be fitted.
type Param struct {
	Name, Doc string
	Positive  bool    // it is fitted as its logarithm; others may be 0
	Step      float64 // by which a derivative is taken, at least, in SI units
	Default   bool    // fitted unless others are asked for
	get       func(*scenarios.Spec) float64
	set       func(*scenarios.Spec, float64)
	print     func(float64) string
}

// Print writes a value of the parameter with its unit.
func (p *Param) Print(v float64) string { return p.print(v) }

func seconds(v float64) sim.Duration { return sim.Duration(v*float64(sim.Second) + 0.5) }

func printDuration(v float64) string { return (seconds(v) / sim.Nanosecond * sim.Nanosecond).String() }
func printRate(v float64) string {
	return (sim.Rate(v/1e6+0.5) * sim.Mbps).String()
}

// host makes a parameter of nic.host.
func host(name, doc string, standard bool, at func(*scenarios.HostSpec) *sim.Duration) Param {
	return Param{Name: name, Doc: doc, Step: 20e-9, Default: standard, print: printDuration,
		get: func(s *scenarios.Spec) float64 { return at(&s.NIC.Host).Seconds() },
		set: func(s *scenarios.Spec, v float64) { *at(&s.NIC.Host) = seconds(v) }}
}

// Params are the parameters that can be fitted.
var Params = []Param{
	{Name: "rate", Doc: "rate of every link", Positive: true, Step: 0.01, Default: true, print: printRate,
		get: func(s *scenarios.Spec) float64 { return float64(lastLink(s).Rate) },
		set: func(s *scenarios.Spec, v float64) { lastLink(s).Rate = sim.Rate(v + 0.5) }},
	{Name: "delay", Doc: "propagation delay of every link: what the path takes beside sending", Step: 20e-9, Default: true, print: printDuration,
		get: func(s *scenarios.Spec) float64 { return lastLink(s).Delay.Seconds() },
		set: func(s *scenarios.Spec, v float64) { lastLink(s).Delay = max(1, seconds(v)) }},
	host("post", "time of the core to post a request: the cost of a message", true, func(h *scenarios.HostSpec) *sim.Duration { return &h.Post }),
	host("doorbell", "from the end of posting until the NIC has the request", false, func(h *scenarios.HostSpec) *sim.Duration { return &h.Doorbell }),
	host("poll", "time of the core to take a completion", false, func(h *scenarios.HostSpec) *sim.Duration { return &h.Poll }),
	host("moderation", "a first completion waits so long for others", false, func(h *scenarios.HostSpec) *sim.Duration { return &h.Moderation }),
	{Name: "cnp_interval", Doc: "least time between two CNPs of a queue pair", Positive: true, Step: 0.2, print: printDuration,
		get: func(s *scenarios.Spec) float64 {
			p, _ := dcqcn(s)
			return p.CNPInterval.Seconds()
		},
		set: func(s *scenarios.Spec, v float64) {
			p, _ := dcqcn(s)
			p.CNPInterval = max(1, seconds(v))
			s.NIC.Congestion.Params = p
		}},
}

// cnpParam is the parameter that is fitted by default where it can be.
const cnpParam = "cnp_interval"

// lastLink is the rule for links that the fit appends; it holds for all of them.
func lastLink(s *scenarios.Spec) *scenarios.LinkRule { return &s.Links[len(s.Links)-1] }

// Choose returns the parameters of a list of names separated by commas; empty
// are those that are fitted by default.
func Choose(names string) ([]*Param, error) {
	var out []*Param
	if names == "" {
		for i := range Params {
			if Params[i].Default {
				out = append(out, &Params[i])
			}
		}
		return out, nil
	}
	for _, name := range strings.Split(names, ",") {
		name = strings.TrimSpace(name)
		p, err := lookup(name)
		if err != nil {
			return nil, err
		}
		for _, q := range out {
			if q == p {
				return nil, fmt.Errorf("--fit %s: %s stands there twice", names, name)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func lookup(name string) (*Param, error) {
	var all []string
	for i := range Params {
		if Params[i].Name == name {
			return &Params[i], nil
		}
		all = append(all, Params[i].Name)
	}
	return nil, fmt.Errorf("--fit %s: unknown parameter: want some of %s", name, strings.Join(all, ", "))
}
