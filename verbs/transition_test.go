package verbs_test

import (
	"testing"

	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

// The minimum masks of ibv_modify_qp(3), written as the manual page writes them.
func TestMasksOfTheManualPage(t *testing.T) {
	for _, c := range []struct {
		s              verbs.Service
		init, rtr, rts string
	}{
		{verbs.RC, "STATE|ACCESS_FLAGS|PKEY_INDEX|PORT", "STATE|AV|PATH_MTU|RQ_PSN|MIN_RNR_TIMER|MAX_DEST_RD_ATOMIC|DEST_QPN", "STATE|TIMEOUT|RETRY_CNT|RNR_RETRY|MAX_QP_RD_ATOMIC|SQ_PSN"},
		{verbs.UC, "STATE|ACCESS_FLAGS|PKEY_INDEX|PORT", "STATE|AV|PATH_MTU|RQ_PSN|DEST_QPN", "STATE|SQ_PSN"},
		{verbs.UD, "STATE|PKEY_INDEX|PORT|QKEY", "STATE", "STATE|SQ_PSN"},
	} {
		for i, want := range []string{c.init, c.rtr, c.rts} {
			need, _, ok := verbs.Masks(c.s, verbs.StateReset+verbs.State(i), verbs.StateInit+verbs.State(i))
			require.True(t, ok)
			require.Equal(t, want, need.String())
			parsed, err := verbs.ParseAttrMask(want)
			require.NoError(t, err)
			require.Equal(t, need, parsed)
		}
	}
}

// Which states lead where, for every service.
func TestReachableStates(t *testing.T) {
	common := map[verbs.State][]verbs.State{
		verbs.StateReset: {verbs.StateInit}, verbs.StateInit: {verbs.StateInit, verbs.StateRTR}, verbs.StateRTR: {verbs.StateRTS},
		verbs.StateRTS: {verbs.StateRTS, verbs.StateSQD}, verbs.StateSQD: {verbs.StateSQD, verbs.StateRTS}, verbs.StateError: nil,
	}
	for _, s := range []verbs.Service{verbs.RC, verbs.UC, verbs.UD} {
		for from := verbs.StateReset; from <= verbs.StateError; from++ {
			want := append([]verbs.State{verbs.StateReset, verbs.StateError}, common[from]...)
			if from == verbs.StateSQE && s != verbs.RC {
				want = append(want, verbs.StateRTS)
			}
			for to := verbs.StateReset; to <= verbs.StateError; to++ {
				_, _, ok := verbs.Masks(s, from, to)
				require.Equal(t, contains(want, to), ok, "%v: %v to %v", s, from, to)
			}
		}
	}
}

func contains(list []verbs.State, s verbs.State) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestCheckModifyNamesWhatIsWrong(t *testing.T) {
	a := verbs.QPAttr{State: verbs.StateInit, Port: 1}
	full := verbs.AttrState | verbs.AttrPKeyIndex | verbs.AttrPort | verbs.AttrAccess
	require.NoError(t, verbs.CheckModify(verbs.RC, verbs.StateReset, &a, full))
	for want, f := range map[string]func() error{
		"needs PORT":         func() error { return verbs.CheckModify(verbs.RC, verbs.StateReset, &a, full&^verbs.AttrPort) },
		"does not take QKEY": func() error { return verbs.CheckModify(verbs.RC, verbs.StateReset, &a, full|verbs.AttrQKey) },
		"no way from RESET": func() error {
			return verbs.CheckModify(verbs.RC, verbs.StateReset, &verbs.QPAttr{State: verbs.StateRTS}, full)
		},
		"is in state RTS": func() error { return verbs.CheckModify(verbs.RC, verbs.StateRTS, &a, verbs.AttrCurState) },
		"PORT 0": func() error {
			return verbs.CheckModify(verbs.RC, verbs.StateReset, &verbs.QPAttr{State: verbs.StateInit}, full)
		},
		"MIN_RNR_TIMER 32": func() error {
			return verbs.CheckModify(verbs.RC, verbs.StateRTS, &verbs.QPAttr{MinRNRTimer: 32}, verbs.AttrMinRNRTimer)
		},
		"1<<30": func() error { return verbs.CheckModify(verbs.RC, verbs.StateRTS, &a, 1<<30) },
	} {
		require.ErrorIs(t, f(), verbs.ErrInvalid)
		require.ErrorContains(t, f(), want)
	}
}

func TestTimers(t *testing.T) {
	require.Equal(t, 655360*sim.Microsecond, verbs.RNRTimer(0))
	require.Equal(t, 640*sim.Microsecond, verbs.RNRTimer(12))
	require.Equal(t, 61440*sim.Microsecond, verbs.RNRTimer(25))
	require.Equal(t, 491520*sim.Microsecond, verbs.RNRTimer(31))
	require.Zero(t, verbs.AckTimeout(0))
	require.Equal(t, 4096*sim.Nanosecond<<14, verbs.AckTimeout(14))
	for m := verbs.MTU256; m <= verbs.MTU4096; m++ {
		require.Equal(t, m, verbs.MTUOf(m.Bytes()))
	}
	require.Zero(t, verbs.MTUOf(1500))
	require.Zero(t, verbs.MTU(6).Bytes())
}

// Rights of memory: what is written from afar must be writable here.
func TestAccess(t *testing.T) {
	require.True(t, verbs.Access(0).Valid())
	require.True(t, (verbs.LocalWrite | verbs.RemoteWrite).Valid())
	require.False(t, verbs.RemoteWrite.Valid())
	require.False(t, verbs.RemoteAtomic.Valid())
	require.True(t, verbs.RemoteRead.Valid())
	require.False(t, verbs.Access(1<<30).Valid())
}
