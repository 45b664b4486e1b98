package scenarios

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/reports/metric"
	"rdmasim/scenarios/fault"
	"rdmasim/sim"
	"rdmasim/sim/trace"
)

// during is the example of a fault at another time.
func during(t *testing.T, name string, when fault.When) *Spec {
	s := parsed(t, withFaults(fmt.Sprintf("%s: %s", name, fault.Example(name))))
	v := reflect.New(reflect.TypeOf(s.Faults[0].Params)).Elem()
	v.Set(reflect.ValueOf(s.Faults[0].Params))
	place := v.FieldByName("When")
	require.True(t, place.IsValid(), "%s has no time", name)
	place.Set(reflect.ValueOf(when))
	s.Faults[0].Params = v.Interface()
	return s
}

// Every fault of the catalogue keeps its time: begins and ends are events, at
// the moments that from, to, period and times give.
func TestEveryFaultKeepsItsTime(t *testing.T) {
	const us = sim.Microsecond
	want := []sim.Time{sim.Time(40 * us), sim.Time(90 * us), sim.Time(240 * us), sim.Time(290 * us)}
	for _, name := range fault.Faults.Names() {
		t.Run(name, func(t *testing.T) {
			s := during(t, name, fault.When{From: 40 * us, To: 90 * us, Period: 200 * us, Times: 2})
			s.Duration = 500 * us
			run, _ := runOn(t, s, 1)
			var at []sim.Time
			for e, err := range run.Events(trace.EventFault) {
				require.NoError(t, err)
				assert.Equal(t, "fault/"+name, e.Object)
				assert.NotEmpty(t, e.Cause)
				assert.Equal(t, float64((len(at)+1)%2), e.Value, "begin, end, begin, end")
				at = append(at, e.Time)
			}
			assert.Equal(t, want, at)
		})
	}
}

// Every fault that comes when all traffic is over fails the run, with the
// sentence that it touched no packet. Those that make frames themselves, pauses
// in an idle fabric, have touched these.
func TestEveryFaultThatTouchesNothingFails(t *testing.T) {
	own := 0
	for _, name := range fault.Faults.Names() {
		t.Run(name, func(t *testing.T) {
			run, _ := runOn(t, during(t, name, fault.When{From: 9 * sim.Millisecond}), 1)
			m, err := metric.Compute(run)
			require.NoError(t, err)
			require.Equal(t, m.Flows.Total, m.Flows.Completed, "the traffic is over by then")
			ok, err := m.Check(nil)
			require.NoError(t, err)
			require.Len(t, m.Expect, 1)
			pauses := 0
			for e, err := range run.Events(trace.EventPauseOn) {
				require.NoError(t, err)
				if e.Time >= sim.Time(9*sim.Millisecond) {
					pauses++
				}
			}
			if pauses > 0 {
				own++
				assert.True(t, ok)
				return
			}
			assert.False(t, ok)
			assert.Equal(t, "fault "+name+" touched no packet", m.Expect[0].Why)
		})
	}
	require.Less(t, own, 4)
}
