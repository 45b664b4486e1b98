package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"

	"rdmasim/sim"
)

// FileDelays is the table of where the time of each message went.
const FileDelays = "delays.csv"

// Delay is what a message waited for, as its sender saw it. At each instant from
// posting to completion it is one of them, so that they add up to that time.
type Delay uint8

// The delays of a message.
const (
	DelayQueue      Delay = iota // earlier requests of the same queue pair were being sent
	DelayHold                    // the host was not ready to send it
	DelaySend                    // its packets left the port for the first time
	DelayShared                  // the port sent what other queue pairs have, or control packets
	DelayCongestion              // rate or window of the reaction point held it back
	DelayWindow                  // the window of the NIC held it back
	DelayPaused                  // the port was paused
	DelayRNR                     // the responder had asked it to wait
	DelayResend                  // packets were sent again after a NAK, or waited for that
	DelayTimeout                 // a local ACK timer ran
	DelayNetwork                 // a window was used up, and the ACK took longer than the path alone does
	DelayFlight                  // everything was sent, and the last ACK had not come
	NumDelays
)

var delayNames = [NumDelays]string{"queue", "hold", "send", "shared", "congestion", "window", "paused", "rnr", "resend", "timeout", "network", "flight"}

// String returns the name of the column, without its unit.
func (d Delay) String() string {
	if d < NumDelays {
		return delayNames[d]
	}
	return fmt.Sprintf("delay(%d)", uint8(d))
}

// Delays holds where the time of a message went. Measured is false where nobody
// has kept account.
type Delays struct {
	Measured bool
	Of       [NumDelays]sim.Duration
	LastSent sim.Time // when the last packet had left, -1 if it has not
}

// Sum returns the whole time.
func (d *Delays) Sum() (sum sim.Duration) {
	for _, v := range d.Of {
		sum += v
	}
	return sum
}

// FlowDelays is one row of delays.csv.
type FlowDelays struct {
	ID uint64
	Delays
}

func delayColumns() []string {
	list := []string{"id"}
	for _, n := range delayNames {
		list = append(list, n+"_s")
	}
	return append(list, "last_sent_s")
}

// appendDelays appends the row of a message.
func appendDelays(b []byte, f *Flow) []byte {
	b = append(strconv.AppendUint(b, f.ID, 10), ',')
	for _, v := range f.Delays.Of {
		if v != 0 {
			b = appendSeconds(b, int64(v))
		} else {
			b = append(b, '0')
		}
		b = append(b, ',')
	}
	b = appendTime(b, int64(f.Delays.LastSent), f.Delays.LastSent >= 0)
	return append(b, '\n')
}

// Delays yields the rows of delays.csv in the order of flows.csv, which has one
// for each message whose time was accounted for. A run without the file has none.
func (r *Run) Delays() iter.Seq2[FlowDelays, error] {
	return func(yield func(FlowDelays, error) bool) {
		err := r.readCSV(FileDelays, delayColumns(), func(row *row) (bool, error) {
			d, err := row.delays()
			if err != nil {
				return false, err
			}
			return yield(d, nil), nil
		})
		if err != nil && err != errStop && !errors.Is(err, fs.ErrNotExist) {
			yield(FlowDelays{}, err)
		}
	}
}

// delays reads a row of delays.csv.
func (r *row) delays() (FlowDelays, error) {
	d := FlowDelays{ID: r.uint(0, 64)}
	d.Measured = true
	for i := range d.Of {
		d.Of[i] = sim.Duration(r.time(i+1, 0))
	}
	d.LastSent = sim.Time(r.time(int(NumDelays)+1, -1))
	return d, r.err
}
