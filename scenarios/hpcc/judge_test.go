package hpcc

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What becomes of a key depends on the others.
func TestJudge(t *testing.T) {
	for _, c := range []struct{ extra, key, want string }{
		{"HAS_WIN 0 VAR_WIN 1", "VAR_WIN", "dead: there is no window (HAS_WIN 0)"},
		{"HAS_WIN 1 VAR_WIN 1", "VAR_WIN", "honoured"},
		{"CC_MODE 8 HAS_WIN 1 VAR_WIN 1", "VAR_WIN", "unsupported: the window does not shrink with the rate"},
		{"HAS_WIN 0 GLOBAL_T 0", "GLOBAL_T", "dead: there is no window (HAS_WIN 0)"},
		{"HAS_WIN 1 GLOBAL_T 0", "GLOBAL_T", "unsupported: the largest window of all pairs holds for each"},
		{"HAS_WIN 1 GLOBAL_T 1", "GLOBAL_T", "honoured"},
		{"L2_BACK_TO_ZERO 1", "L2_BACK_TO_ZERO", "unsupported: after a loss the sender begins the message again, not the chunk"},
		{"L2_BACK_TO_ZERO 1 L2_CHUNK_SIZE 4000", "L2_CHUNK_SIZE", "unsupported: see L2_BACK_TO_ZERO"},
		{"L2_BACK_TO_ZERO 0 L2_CHUNK_SIZE 4000", "L2_CHUNK_SIZE", "dead: only L2_BACK_TO_ZERO 1 reads it, and ACKs come for every packet anyway"},
		{"L2_ACK_INTERVAL 5000", "L2_ACK_INTERVAL", "unsupported: every in-order packet is acknowledged: there, only from this byte of a flow on"},
		{"CC_MODE 0 RP_TIMER 300", "RP_TIMER", "dead: not read under CC_MODE 0 (none)"},
		{"CC_MODE 0 RATE_BOUND 0", "RATE_BOUND", "dead: without congestion control the rate is that of the line"},
		{"RATE_BOUND 0", "RATE_BOUND", "unsupported: senders are paced by congestion control"},
		{"LINK_DOWN 5 0 1", "LINK_DOWN", "unsupported: links stay up"},
		{"ENABLE_TRACE 1", "ENABLE_TRACE", "unsupported: no packet trace is written: the run directory has series and events"},
		{"ENABLE_QCN 0 KMAX_MAP 0", "KMAX_MAP", "dead: switches do not mark (ENABLE_QCN 0)"},
		{"PAUSE_TIME 5", "PAUSE_TIME", "dead: never used as a timer: a pause lasts until XON"},
		{"KMAX_MAP 1 40000000000 1", "KMAX_MAP", "dead: the other maps lack this rate"},
		{"QLEN_MON_INTERVAL 1", "QLEN_MON_INTERVAL", "unsupported: a key of later models, which the HPCC model does not know"},
		{"", "EWMA_GAIN", "honoured: absent: the built-in default there is 1/16 in integers, which is 0"},
	} {
		text := "TOPOLOGY_FILE t FLOW_FILE f RP_TIMER 300 RATE_AI 1Gbps RATE_HAI 1Gbps L2_ACK_INTERVAL 1 " + c.extra
		_, notes, err := ParseConfig("f", []byte(text))
		require.NoError(t, err, c.extra)
		found := ""
		for _, n := range notes {
			if n.Key == c.key {
				found = n.Status.String()
				if n.Reason != "" {
					found += ": " + n.Reason
				}
			}
		}
		require.Equal(t, c.want, found, c.extra)
	}
}

// Every key of the format is read with a value and has its note.
func TestEveryKeyHasItsNote(t *testing.T) {
	values := map[string]string{"KMAX_MAP": "1 100000000000 1600", "KMIN_MAP": "1 100000000000 400", "PMAX_MAP": "1 100000000000 0.2", "LINK_DOWN": "0 0 0",
		"RATE_AI": "1Gbps", "RATE_HAI": "1Gbps", "MIN_RATE": "1Gbps", "DCTCP_RATE_AI": "1Gbps"}
	text := ""
	for _, k := range keyNames() {
		v := values[k]
		if v == "" {
			v = "1"
		}
		text += fmt.Sprintf("%s %s\n", k, v)
	}
	_, notes, err := ParseConfig("f", []byte(text))
	require.NoError(t, err)
	seen := map[string]int{}
	for _, n := range notes {
		seen[n.Key]++
		require.True(t, n.Status == Honoured || n.Reason != "", n.String())
	}
	for _, k := range keyNames() {
		require.Equal(t, 1, seen[k], k)
	}
}
