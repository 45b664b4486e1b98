package netem

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxCounters bounds what is read of one source.
const maxCounters = 1 << 16

// ParseEthtool reads what "ethtool -S IF" prints: a head line, then "name: value"
// lines. Values that are no whole numbers are left out.
func ParseEthtool(r io.Reader) (Counters, error) {
	c := Counters{}
	sc := bufio.NewScanner(r)
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(sc.Text())
		at := strings.LastIndexByte(text, ':')
		if at < 0 {
			if text == "" {
				continue
			}
			return nil, fmt.Errorf("ethtool -S, line %d: %.60q: want a name and a value, separated by a colon", line, text)
		}
		name, word := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
		if word == "" || name == "" { // "NIC statistics:"
			continue
		}
		n, ok := wholeNumber(word)
		if !ok {
			continue
		}
		if len(c) >= maxCounters {
			return nil, fmt.Errorf("ethtool -S: more than %d counters", maxCounters)
		}
		c[name] = n
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("ethtool -S: %w", err)
	}
	return c, nil
}

// wholeNumber reads a counter; those of 64 bits without a sign that do not fit an
// int64 are none that anything has counted up to.
func wholeNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// PriorityCounter is a counter of one priority, under one name for all drivers.
type PriorityCounter struct {
	Prio  int
	Name  string
	Scale float64 // of the driver's unit
}

// Names of counters of a priority, in the units that they have here.
const (
	PauseFramesRx = "pfc_frames_rx"     // PFC frames received, XOFF and XON
	PauseFramesTx = "pfc_frames_tx"     // PFC frames sent
	PauseXoffRx   = "pfc_xoff_rx"       // where a driver counts XOFF apart
	PauseXoffTx   = "pfc_xoff_frames"   // sent
	PauseXonRx    = "pfc_xon_rx"        // and XON
	PauseXonTx    = "pfc_xon_tx"        //
	PausedRx      = "paused_seconds"    // for which the transmitter was stopped
	PausedTx      = "pausing_seconds"   // for which the peer was stopped
	PausesRx      = "pause_episodes"    // how often the transmitter was stopped
	PausesTx      = "pausing_episodes"  // how often the peer was stopped
	DiscardsRx    = "priority_discards" // packets received and dropped for want of buffer
)

// priorityNames are the drivers' names of counters of a priority, # being its
// number. Sources: NVIDIA, "mlx5 ethtool counters" (kernel documentation,
// networking/device_drivers/ethernet/mellanox/mlx5/counters); drivers bnxt_en
// (bnxt_ethtool.c), ice (ice_ethtool.c) and i40e (i40e_ethtool.c) of Linux.
var priorityNames = []struct {
	pattern string
	name    string
	scale   float64
}{
	{"rx_prio#_pause", PauseFramesRx, 1}, {"tx_prio#_pause", PauseFramesTx, 1}, // mlx5
	{"rx_prio#_pause_duration", PausedRx, 1e-6}, {"tx_prio#_pause_duration", PausedTx, 1e-6},
	{"rx_prio#_pause_transition", PausesRx, 1}, {"tx_prio#_pause_transition", PausesTx, 1},
	{"rx_prio#_discards", DiscardsRx, 1},
	{"rx_pfc_ena_frames_pri#", PauseFramesRx, 1}, {"tx_pfc_ena_frames_pri#", PauseFramesTx, 1}, // bnxt_en
	{"pfc_pri#_rx_duration_us", PausedRx, 1e-6}, {"pfc_pri#_tx_duration_us", PausedTx, 1e-6},
	{"pfc_pri#_rx_transitions", PausesRx, 1}, {"pfc_pri#_tx_transitions", PausesTx, 1},
	{"rx_priority_#_xoff.nic", PauseXoffRx, 1}, {"tx_priority_#_xoff.nic", PauseXoffTx, 1}, // ice, on which irdma stands
	{"rx_priority_#_xon.nic", PauseXonRx, 1}, {"tx_priority_#_xon.nic", PauseXonTx, 1},
	{"port.rx_priority_#_xoff", PauseXoffRx, 1}, {"port.tx_priority_#_xoff", PauseXoffTx, 1}, // i40e
	{"port.rx_priority_#_xon", PauseXonRx, 1}, {"port.tx_priority_#_xon", PauseXonTx, 1},
}

// OfPriority tells which priority a counter of a driver is about, and what it is.
func OfPriority(name string) (PriorityCounter, bool) {
	for _, p := range priorityNames {
		head, tail, _ := strings.Cut(p.pattern, "#")
		if len(name) == len(head)+1+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail) {
			if d := name[len(head)]; d >= '0' && d <= '7' {
				return PriorityCounter{int(d - '0'), p.name, p.scale}, true
			}
		}
	}
	return PriorityCounter{}, false
}
