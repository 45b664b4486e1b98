package fabric

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

const wdMs = sim.Time(sim.Millisecond)

// flavour builds a watchdog with short timers: a poll of 1 ms, a storm of 3 ms,
// quiet of 2 ms, where the flavour lets them be given.
func flavour(t *testing.T, name string) WatchdogConfig {
	timers := SonicParams{WatchdogParams: WatchdogParams{Poll: sim.Millisecond, Detect: 3 * sim.Millisecond, Restore: 2 * sim.Millisecond, Action: "drop"}}
	params := map[string]any{
		"broadcom": BroadcomParams{SonicParams: timers, XonKeeps: true}, "nvidia": NVIDIAParams{timers, true}, "nephos": NephosParams{timers, true}, "cisco-8000": timers,
		"junos":   JunosParams{Poll: sim.Millisecond, Detection: 3, Recovery: 2 * sim.Millisecond},
		"cumulus": CumulusParams{Poll: sim.Millisecond, Robustness: 3}, "nxos": NXOSParams{Interval: sim.Millisecond, Shutdown: 3, Auto: 2},
		"eos": EOSParams{Timeout: 3 * sim.Millisecond, Recovery: 2 * sim.Millisecond, Polling: sim.Millisecond, Action: "drop"},
		"vrp": VRPParams{Poll: sim.Millisecond, Detect: 3 * sim.Millisecond, Recovery: 2 * sim.Millisecond},
	}
	e, err := Watchdogs.Lookup(name)
	require.NoError(t, err)
	p, ok := params[name]
	require.True(t, ok, "a watchdog without a test: %s", name)
	c, err := e.Build(p)
	require.NoError(t, err, name)
	return c
}

// Each flavour counts polls by its own rule. A storm that begins between two
// polls is found so many whole polls after the first one, and the queue is given
// back so many after the last pause.
func TestWatchdogFlavours(t *testing.T) {
	for _, name := range Watchdogs.Names() {
		if name == "none" {
			continue
		}
		// found, back: polls after the first that lies in the storm, or after the
		// last pause has ended; 0: not within the test.
		want := map[string]struct{ found, back, empty int }{
			"broadcom":   {4, 3, 4}, // the poll in which it begins does not count; quiet is a poll without a pause in it
			"nvidia":     {4, 3, 0},
			"nephos":     {3, 3, 4}, // pauses came in before the first poll; an empty queue must have been paused for 80 % of it
			"cisco-8000": {3, 3, 3},
			"junos":      {3, -2, 0}, // after a fixed time
			"cumulus":    {3, 4, 0},
			"nxos":       {3, 3, 0},
			"eos":        {3, 2, 0},
			"vrp":        {4, -2, 4},
		}[name]
		for _, waits := range []bool{true, false} {
			r := guarded(t, 2, 1<<3, flavour(t, name))
			begin, end := 10*wdMs+wdMs/2, 30*wdMs+wdMs/2
			r.storm(0, 3, begin, end, 100*sim.Microsecond)
			if waits {
				r.stream(1, begin.Add(20*sim.Microsecond), 100, frame(0, 3, 4000, packet.ECT0))
			}
			r.run(45 * sim.Millisecond)
			got := r.stages()
			found := want.found
			if !waits {
				found = want.empty
			}
			if found == 0 {
				assert.Empty(t, got, name)
				continue
			}
			require.NotEmpty(t, got, "%s, waits %v", name, waits)
			assert.Equal(t, 10*wdMs+sim.Time(found)*wdMs, got[0].Time, "%s, waits %v", name, waits)
			if !waits || len(got) < 2 {
				continue
			}
			back := got[0].Time.Add(-sim.Duration(want.back) * sim.Millisecond)
			if want.back > 0 {
				back = 30*wdMs + sim.Time(want.back)*wdMs
			}
			assert.Equal(t, back, got[1].Time, "%s gives back", name)
		}
	}
}

// A pause that ends for a moment in each poll, so that frames leave: who counts
// what came in between two polls sees no storm; who looks at the polls alone,
// does.
func TestWatchdogFlavoursOnChoppyStorms(t *testing.T) {
	sees := map[string]bool{"cisco-8000": true}
	for _, name := range Watchdogs.Names() {
		if name == "none" {
			continue
		}
		r := guarded(t, 2, 1<<3, flavour(t, name))
		r.storm(0, 3, wdMs+wdMs/2, 20*wdMs, 100*sim.Microsecond)
		for at := 2*wdMs + wdMs/2; at < 20*wdMs; at += wdMs {
			r.testers[0].at(at.Add(sim.Microsecond), pauseFrame(1<<3, 0))
			r.testers[0].at(at.Add(6*sim.Microsecond), pauseFrame(1<<3, 65535))
		}
		r.stream(1, wdMs+wdMs/2+wdMs/50, 400, frame(0, 3, 4000, packet.ECT0))
		r.run(20 * sim.Millisecond)
		assert.Equal(t, sees[name], len(r.stages()) > 0, name)
	}
}

// Newer images of SONiC on Broadcom chips want two polls of storm even where
// one lasts for all of the detection time.
func TestBroadcomTwoPolls(t *testing.T) {
	for two, want := range map[bool]sim.Time{false: 12 * wdMs, true: 13 * wdMs} {
		c := BroadcomParams{SonicParams: SonicParams{WatchdogParams: WatchdogParams{Poll: sim.Millisecond, Detect: sim.Millisecond, Restore: sim.Millisecond, Action: "drop"}}, TwoPolls: two}
		r := guarded(t, 2, 1<<3, watchdog(t, c))
		r.storm(0, 3, 10*wdMs+wdMs/2, 30*wdMs, 100*sim.Microsecond)
		r.run(20 * sim.Millisecond)
		require.NotEmpty(t, r.stages())
		assert.Equal(t, want, r.stages()[0].Time, "two polls: %v", two)
	}
}

// An alert of SONiC is over at the first poll that is no storm; that of others
// would take its time of quiet.
func TestAlertEndsAtOnce(t *testing.T) {
	c := flavour(t, "broadcom")
	c.Action = WatchdogAlert
	for ends, want := range map[bool]sim.Time{true: 31 * wdMs, false: 33 * wdMs} {
		c.AlertEnds = ends
		r := guarded(t, 2, 1<<3, c)
		r.storm(0, 3, 10*wdMs+wdMs/2, 30*wdMs+wdMs/2, 100*sim.Microsecond)
		r.run(40 * sim.Millisecond)
		got := r.stages()
		require.Len(t, got, 2)
		assert.Equal(t, want, got[1].Time, "ends %v", ends)
	}
}

// A port that is taken down drops all that goes to it or comes from it, of any
// class, and stays down.
func TestErrdisable(t *testing.T) {
	e, err := Watchdogs.Lookup("eos")
	require.NoError(t, err)
	c, err := e.Build(EOSParams{Timeout: 2 * sim.Millisecond, Recovery: 2 * sim.Millisecond, Polling: sim.Millisecond, Action: "errdisable"})
	require.NoError(t, err)
	r := guarded(t, 3, 1<<3, c)
	r.storm(0, 3, wdMs/2, 5*wdMs, 100*sim.Microsecond)
	r.testers[1].at(wdMs/2+wdMs/10, frame(0, 3, 1000, packet.ECT0))
	r.testers[1].at(20*wdMs, frame(0, 0, 1000, packet.ECT0))
	r.testers[0].at(20*wdMs, frame(1, 0, 1000, packet.ECT0))
	r.testers[2].at(20*wdMs, frame(1, 0, 1000, packet.ECT0))
	r.run(25 * sim.Millisecond)
	assert.Len(t, r.stages(), 1)
	assert.Empty(t, r.testers[0].got)
	assert.Len(t, r.testers[1].got, 1)
	accounted, queued := r.sw.InUse()
	assert.Zero(t, accounted+queued)
}

// After so many deadlocks VRP turns PFC off for good.
func TestTurnOff(t *testing.T) {
	c := flavour(t, "vrp")
	for off, want := range map[int]int{0: 8, 2: 3} { // found and given back, and so on
		c.TurnOff = off
		r := guarded(t, 2, 1<<3, c)
		for k := range sim.Time(4) {
			r.storm(0, 3, (1+10*k)*wdMs+wdMs/2, (6+10*k)*wdMs, 100*sim.Microsecond)
		}
		r.run(45 * sim.Millisecond)
		assert.Len(t, r.stages(), want, "turn_off %d", off)
	}
}

// The big red switch drops lossless queues from the beginning, without a storm,
// and for good; others go on.
func TestBigRedSwitch(t *testing.T) {
	c := watchdog(t, BroadcomParams{SonicParams: SonicParams{WatchdogParams: sonicTimers.WatchdogParams, BigRedSwitch: true}})
	r := guarded(t, 2, 1<<3, c)
	for _, dscp := range []uint8{3, 0} {
		r.stream(1, wdMs, 5, frame(0, dscp, 1000, packet.ECT0))
	}
	r.run(2 * sim.Millisecond)
	require.Len(t, r.testers[0].got, 5)
	assert.Equal(t, uint8(0), r.testers[0].got[0].DSCP)
	require.Len(t, r.stages(), 1)
	assert.Contains(t, r.stages()[0].Cause, "big red switch")
	assert.Equal(t, 5.0, r.counter(2*sim.Millisecond, "sw:0/q3", 3, trace.CountWatchdogTxDrops))
}

// Timers that make no sense are refused by name.
func TestWatchdogParamErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		params any
		want   string
	}{
		{"eos", EOSParams{Timeout: sim.Second, Recovery: sim.Second, Polling: 600 * sim.Millisecond, Action: "drop"}, "polling_interval: 600ms: EOS wants at most half"},
		{"eos", EOSParams{Timeout: sim.Second, Recovery: sim.Second, Polling: sim.Millisecond, Action: "forward"}, `action: "forward": want drop, no-drop or errdisable`},
		{"junos", JunosParams{Poll: sim.Second, Detection: 0, Recovery: sim.Second}, "detection: 0: want 1"},
		{"junos", JunosParams{Poll: sim.Second, Detection: 1, Recovery: sim.Millisecond}, "recovery: 1ms"},
		{"cumulus", CumulusParams{Poll: 0, Robustness: 3}, "polling_interval"},
		{"nxos", NXOSParams{Interval: sim.Second, Shutdown: 1 << 40}, "shutdown_multiplier"},
		{"nxos", NXOSParams{Interval: 1 << 61, Shutdown: 1}, "interval"},
		{"vrp", VRPParams{Poll: sim.Second, Detect: sim.Millisecond, Recovery: sim.Second}, "deadlock_detect"},
		{"junos", JunosParams{Poll: sim.Second, Detection: 1, Recovery: sim.Second, Priorities: []int{8}}, "priorities: 8"},
	} {
		e, err := Watchdogs.Lookup(c.name)
		require.NoError(t, err)
		_, err = e.Build(c.params)
		assert.ErrorContains(t, err, c.want, c.name)
	}
}
