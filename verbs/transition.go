package verbs

import "fmt"

// transition is a change of state that ibv_modify_qp allows for a service: the
// attributes that it needs and those that it may have besides. Source:
// InfiniBand Architecture, volume 1, table 91 (modify queue pair), and
// ibv_modify_qp(3).
type transition struct {
	service             Service
	from, to            State
	required, permitted AttrMask
}

const (
	attrInitC  = AttrPKeyIndex | AttrPort | AttrAccess
	attrInitD  = AttrPKeyIndex | AttrPort | AttrQKey
	attrAltAll = AttrAltPath | AttrPathMigration
	attrRTR    = AttrAV | AttrPathMTU | AttrDestQPN | AttrRQPSN
	attrRTS    = AttrTimeout | AttrRetryCount | AttrRNRRetry | AttrSQPSN | AttrMaxRDAtomic
)

var transitions = []transition{
	{RC, StateReset, StateInit, attrInitC, 0},
	{UC, StateReset, StateInit, attrInitC, 0},
	{UD, StateReset, StateInit, attrInitD, 0},
	{RC, StateInit, StateInit, 0, attrInitC},
	{UC, StateInit, StateInit, 0, attrInitC},
	{UD, StateInit, StateInit, 0, attrInitD},
	{RC, StateInit, StateRTR, attrRTR | AttrMaxDestRD | AttrMinRNRTimer, AttrAltPath | AttrAccess | AttrPKeyIndex},
	{UC, StateInit, StateRTR, attrRTR, AttrAltPath | AttrAccess | AttrPKeyIndex},
	{UD, StateInit, StateRTR, 0, AttrPKeyIndex | AttrQKey},
	{RC, StateRTR, StateRTS, attrRTS, AttrCurState | AttrAccess | AttrMinRNRTimer | attrAltAll},
	{UC, StateRTR, StateRTS, AttrSQPSN, AttrCurState | AttrAccess | attrAltAll},
	{UD, StateRTR, StateRTS, AttrSQPSN, AttrCurState | AttrQKey},
	{RC, StateRTS, StateRTS, 0, AttrCurState | AttrAccess | AttrMinRNRTimer | attrAltAll},
	{UC, StateRTS, StateRTS, 0, AttrCurState | AttrAccess | attrAltAll},
	{UD, StateRTS, StateRTS, 0, AttrCurState | AttrQKey},
	{RC, StateRTS, StateSQD, 0, AttrSQDNotify},
	{UC, StateRTS, StateSQD, 0, AttrSQDNotify},
	{UD, StateRTS, StateSQD, 0, AttrSQDNotify},
	{RC, StateSQD, StateSQD, 0, AttrPort | AttrAV | AttrTimeout | AttrRetryCount | AttrRNRRetry | AttrMaxRDAtomic | AttrMaxDestRD |
		AttrAccess | AttrPKeyIndex | AttrMinRNRTimer | attrAltAll},
	{UC, StateSQD, StateSQD, 0, AttrAV | AttrAccess | AttrPKeyIndex | attrAltAll},
	{UD, StateSQD, StateSQD, 0, AttrPKeyIndex | AttrQKey},
	{RC, StateSQD, StateRTS, 0, AttrCurState | AttrAccess | AttrMinRNRTimer | attrAltAll},
	{UC, StateSQD, StateRTS, 0, AttrCurState | AttrAccess | attrAltAll},
	{UD, StateSQD, StateRTS, 0, AttrCurState | AttrQKey},
	{UC, StateSQE, StateRTS, 0, AttrCurState | AttrAccess},
	{UD, StateSQE, StateRTS, 0, AttrCurState | AttrQKey},
}

// Masks returns the attributes that a change of state needs and those that it
// may have besides; ok is false if the state cannot be reached. Every state
// leads to RESET and to ERROR, with no attribute but the state.
func Masks(s Service, from, to State) (required, permitted AttrMask, ok bool) {
	if to == StateReset || to == StateError {
		return AttrState, AttrCurState, from <= StateError
	}
	for i := range transitions {
		if t := &transitions[i]; t.service == s && t.from == from && t.to == to {
			return t.required | AttrState, t.permitted, true
		}
	}
	return 0, 0, false
}

// CheckModify says what is wrong with a call of Modify on a queue pair in state
// from; nil if nothing is. Every error is an ErrInvalid, and nothing is modified.
func CheckModify(s Service, from State, attr *QPAttr, mask AttrMask) error {
	to := from
	if mask&AttrState != 0 {
		to = attr.State
	}
	if mask&AttrCurState != 0 && attr.CurState != from {
		return fmt.Errorf("%w: the queue pair is in state %v, not %v", ErrInvalid, from, attr.CurState)
	}
	required, permitted, ok := Masks(s, from, to)
	if !ok {
		return fmt.Errorf("%w: no way from %v to %v for %v", ErrInvalid, from, to, s)
	}
	if mask&AttrState == 0 { // attributes alone, within a state
		required &^= AttrState
	}
	if missing := required &^ mask; missing != 0 {
		return fmt.Errorf("%w: %v to %v needs %v", ErrInvalid, from, to, missing)
	}
	if extra := mask &^ (required | permitted | AttrState); extra != 0 {
		return fmt.Errorf("%w: %v to %v does not take %v", ErrInvalid, from, to, extra)
	}
	return attr.check(mask)
}

// check looks at the values of the attributes named.
func (a *QPAttr) check(mask AttrMask) error {
	for _, c := range []struct {
		bit  AttrMask
		v    uint32
		most uint32
	}{{AttrTimeout, uint32(a.Timeout), 31}, {AttrRetryCount, uint32(a.RetryCount), 7}, {AttrRNRRetry, uint32(a.RNRRetry), 7},
		{AttrMinRNRTimer, uint32(a.MinRNRTimer), 31}, {AttrRQPSN, a.RQPSN, 1<<24 - 1}, {AttrSQPSN, a.SQPSN, 1<<24 - 1}, {AttrDestQPN, a.DestQPN, 1<<24 - 1}} {
		if mask&c.bit != 0 && c.v > c.most {
			return fmt.Errorf("%w: %v %d: want 0..%d", ErrInvalid, c.bit, c.v, c.most)
		}
	}
	switch {
	case mask&AttrPathMTU != 0 && a.PathMTU.Bytes() == 0:
		return fmt.Errorf("%w: PATH_MTU %d: want 1..5 (256..4096 bytes)", ErrInvalid, a.PathMTU)
	case mask&AttrPort != 0 && a.Port == 0:
		return fmt.Errorf("%w: PORT 0: ports are numbered from 1", ErrInvalid)
	}
	return nil
}
