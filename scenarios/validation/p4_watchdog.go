package validation

import (
	"fmt"

	"rdmasim/sim"
	"rdmasim/sim/trace"
)

var _ = register("P4", Row{
	Title: "PFC watchdog",
	Hard:  true,
	Explain: `A watchdog that polls each P, and counts a poll only if the queue was paused at the poll before as well, finds a storm of D
after between k P and (k+1) P, k = ceil(D/P), wherever between two polls it begins. With SONiC's defaults, D = P = 200 ms,
that is within (200, 400] ms. It gives the queue back after as many whole polls without a pause frame.
Source: sonic-swss, pfc_detect_broadcom.lua and pfc_restore.lua; sonic-utilities, pfcwd/main.py.`,
	Scenarios: []string{"switch-watchdog.yaml"},
	Measure:   measureWatchdog,
})

// storms is one point of P4: times of a watchdog, and where between two polls, in
// thousandths, a storm begins.
type storms struct {
	poll, detect, restore sim.Duration
	level                 Level
}

// polls rounds a time up to polls.
func (c storms) polls(d sim.Duration) sim.Duration { return (d + c.poll - 1) / c.poll * c.poll }

func measureWatchdog(b *Bench) error {
	const ms = sim.Millisecond
	phases := []int{1, 500, 999}
	if b.Level > Short {
		phases = []int{1, 100, 250, 500, 750, 900, 999}
	}
	found, restored := Line{Name: "detection, simulated"}, Line{Name: "restoration, simulated"}
	for i, c := range []storms{{200 * ms, 200 * ms, 200 * ms, Short}, {100 * ms, 400 * ms, 2000 * ms, Quick}, {200 * ms, 400 * ms, 400 * ms, Quick}, {100 * ms, 250 * ms, 300 * ms, Quick},
		{50 * ms, 120 * ms, 500 * ms, Quick}, {400 * ms, 400 * ms, 400 * ms, Full}, {1000 * ms, 5000 * ms, 1000 * ms, Full}} {
		if c.level > b.Level {
			continue
		}
		for _, phase := range phases {
			detection, restoration, err := b.storm(c, phase)
			if err != nil {
				return err
			}
			if i == 0 {
				found.at(float64(phase)/10, detection)
				restored.at(float64(phase)/10, restoration)
			}
		}
	}
	lower, upper := oracle("k P", 0, 100, func(float64) float64 { return 200 }), oracle("(k + 1) P", 0, 100, func(float64) float64 { return 400 })
	b.Draw(Curve{Name: "detection", Title: "How long a watchdog of 200 ms takes", X: Axis{Label: "when the storm begins (% of a poll)"}, Y: Axis{Label: "time (ms)"}, Lines: []Line{lower, upper, found, restored}})
	return nil
}

// storm checks when one storm is found and when its queue is given back, and
// returns both in ms.
func (b *Bench) storm(c storms, phase int) (detection, restoration float64, err error) {
	const ms = sim.Millisecond
	from := c.poll + c.poll*sim.Duration(phase)/1000
	to := from + c.polls(c.detect) + 2*c.poll
	o, err := b.Run("switch-watchdog.yaml", "expect=[]", "switch.watchdog.broadcom.poll="+c.poll.String(), "switch.watchdog.broadcom.detect="+c.detect.String(),
		"switch.watchdog.broadcom.restore="+c.restore.String(), fmt.Sprintf("faults.0.pause_storm.from=%dps", from), fmt.Sprintf("faults.0.pause_storm.to=%dps", to),
		fmt.Sprintf("duration=%dps", to+c.polls(c.restore)+2*c.poll), "max_duration=100s")
	if err != nil {
		return 0, 0, err
	}
	defer o.Discard()
	events, err := o.Happened(trace.EventWatchdog)
	if err != nil {
		return 0, 0, err
	}
	if len(events) != 2 {
		b.Exact(fmt.Sprintf("poll %v, detection %v, storm at %v: events", c.poll, c.detect, from), 2, len(events), "one storm, one end")
		return 0, 0, nil
	}
	what := fmt.Sprintf("poll %v, storm at %.1f %% of a poll: ", c.poll, float64(phase)/10)
	k, n, p := c.polls(c.detect).Seconds()*1e3, c.polls(c.restore).Seconds()*1e3, c.poll.Seconds()*1e3
	detection = events[0].Time.Sub(sim.Time(from)).Seconds() * 1e3
	restoration = events[1].Time.Sub(sim.Time(to)).Seconds() * 1e3
	b.Within(what+fmt.Sprintf("detection %v", c.detect), k, k+p, one(detection), "ms", "SONiC pfcwd")
	b.Within(what+fmt.Sprintf("restoration %v after a pause frame of the last ms", c.restore), n-(1*ms).Seconds()*1e3, n+p, one(restoration), "ms", "SONiC pfcwd")
	return detection, restoration, nil
}
