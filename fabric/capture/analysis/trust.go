package analysis

import (
	"slices"

	"rdmasim/fabric/capture"
)

// A receiver throws away what has a wrong ICRC, and so does an analysis. But
// captures are also rewritten, for example to hide addresses, and then no ICRC
// holds: nothing would be left. So packets wait until the first ICRC that holds
// tells that the others are really wrong, or until so many in a row are wrong
// that they tell nothing.

// trust says what is known of the ICRCs of a capture.
type trust uint8

const (
	trustUnknown trust = iota
	trusted
	distrusted
)

const (
	maxWrong = 16   // ICRCs that are wrong, none that holds
	maxHeld  = 1024 // records that wait
)

// held are the records that wait.
type held struct {
	records    []capture.Record
	interfaces []capture.Interface
	wrong      int
	is         trust
}

// Add follows one record. interfaces are those of its reader so far.
func (a *Analyzer) Add(rec *capture.Record, interfaces []capture.Interface) {
	h := &a.held
	if h.is != trustUnknown {
		a.add(rec, interfaces)
		return
	}
	f := &a.frame
	f.Decode(interfaces[rec.Interface].Link, rec.Data, rec.Original)
	state := capture.ICRCAbsent
	if f.Kind.RDMA() {
		state = f.ICRC
	}
	if state == capture.ICRCInvalid {
		h.wrong++
	}
	switch {
	case state == capture.ICRCValid:
		a.release(trusted, interfaces)
	case h.wrong == 0: // nothing waits
	case h.wrong < maxWrong && len(h.records) < maxHeld:
		r := *rec
		r.Data = slices.Clone(rec.Data)
		h.records, h.interfaces = append(h.records, r), interfaces
		return
	default:
		a.release(distrusted, interfaces)
	}
	a.add(rec, interfaces)
}

// settle follows what still waits when the capture ends without an ICRC that holds.
func (a *Analyzer) settle() {
	if len(a.held.records) > 0 {
		a.release(distrusted, a.held.interfaces)
	}
}

// release follows the records that have waited.
func (a *Analyzer) release(is trust, interfaces []capture.Interface) {
	list := a.held.records
	a.held = held{is: is}
	for i := range list {
		a.add(&list[i], interfaces)
	}
}
