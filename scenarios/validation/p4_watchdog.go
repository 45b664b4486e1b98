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

func measureWatchdog(b *Bench) error {
	const ms = sim.Millisecond
	for _, c := range []struct {
		poll, detect, restore sim.Duration
		level                 Level
	}{{200 * ms, 200 * ms, 200 * ms, Short}, {100 * ms, 400 * ms, 2000 * ms, Quick}, {200 * ms, 400 * ms, 400 * ms, Quick}, {100 * ms, 250 * ms, 300 * ms, Quick}, {400 * ms, 400 * ms, 400 * ms, Full}} {
		if c.level > b.Level {
			continue
		}
		polls := func(d sim.Duration) sim.Duration { return (d + c.poll - 1) / c.poll * c.poll }
		phases := []int{1, 500, 999}
		if b.Level > Short {
			phases = []int{1, 100, 250, 500, 750, 900, 999}
		}
		for _, phase := range phases {
			from := c.poll + c.poll*sim.Duration(phase)/1000
			to := from + polls(c.detect) + 2*c.poll
			o, err := b.Run("switch-watchdog.yaml", "expect=[]", "switch.watchdog.broadcom.poll="+c.poll.String(), "switch.watchdog.broadcom.detect="+c.detect.String(),
				"switch.watchdog.broadcom.restore="+c.restore.String(), fmt.Sprintf("faults.0.pause_storm.from=%dps", from), fmt.Sprintf("faults.0.pause_storm.to=%dps", to),
				fmt.Sprintf("duration=%dps", to+polls(c.restore)+2*c.poll))
			if err != nil {
				return err
			}
			events, err := o.Happened(trace.EventWatchdog)
			if err != nil {
				return err
			}
			o.Discard()
			if len(events) != 2 {
				b.Exact(fmt.Sprintf("poll %v, detection %v, storm at %v: events", c.poll, c.detect, from), 2, len(events), "one storm, one end")
				continue
			}
			what := fmt.Sprintf("poll %v, storm at %.1f %% of a poll: ", c.poll, float64(phase)/10)
			k, n := float64(polls(c.detect)/ms), float64(polls(c.restore)/ms)
			p := float64(c.poll / ms)
			b.Within(what+fmt.Sprintf("detection %v", c.detect), k, k+p, one(events[0].Time.Sub(sim.Time(from)).Seconds()*1e3), "ms", "SONiC pfcwd")
			b.Within(what+fmt.Sprintf("restoration %v after a pause frame of the last ms", c.restore), n-1, n+p, one(events[1].Time.Sub(sim.Time(to)).Seconds()*1e3), "ms", "SONiC pfcwd")
		}
	}
	return nil
}
