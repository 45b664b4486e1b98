package trace

import (
	"fmt"
	"strings"
)

// alias derives a counter that operators know from counters of a run. Name
// holds %d where the priority goes. The value is the sum of Of times Scale.
type alias struct {
	name  string
	of    []string
	scale float64
	unit  string
}

// switchAliases are the names of SONiC: the columns of "show pfc counters" and
// the SAI statistics of COUNTERS_DB (saiport.h, saiqueue.h, saibuffer.h).
// Rx and Tx count every PFC frame, XOFF (refreshes too) and XON.
var switchAliases = []alias{
	{"PFC%d Rx", []string{CountPFCXoffRx, CountPFCXonRx}, 1, "frames"},
	{"PFC%d Tx", []string{CountPFCXoffTx, CountPFCRefreshTx, CountPFCXonTx}, 1, "frames"},
	{"SAI_PORT_STAT_PFC_%d_RX_PKTS", []string{CountPFCXoffRx, CountPFCXonRx}, 1, "frames"},
	{"SAI_PORT_STAT_PFC_%d_TX_PKTS", []string{CountPFCXoffTx, CountPFCRefreshTx, CountPFCXonTx}, 1, "frames"},
	{"SAI_PORT_STAT_PFC_%d_ON2OFF_RX_PKTS", []string{CountPauseEpisodes}, 1, "episodes"},
	{"SAI_PORT_STAT_PFC_%d_RX_PAUSE_DURATION_US", []string{CountPausedSeconds}, 1e6, "us"},
	{"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", []string{CountECNMarked}, 1, "packets"},
	{"SAI_QUEUE_STAT_WATERMARK_BYTES", []string{CountQueueMax}, 1, "bytes"},
	{"SAI_INGRESS_PRIORITY_GROUP_STAT_WATERMARK_BYTES", []string{CountIngressMax}, 1, "bytes"},
	{"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES", []string{CountHeadroomMax}, 1, "bytes"},
	{"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES", []string{CountSharedMax}, 1, "bytes"},
	{"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", []string{CountQueueSharedMax}, 1, "bytes"},
	{"SAI_QUEUE_STAT_PACKETS", []string{CountQueueTxPackets}, 1, "packets"},
	{"SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", []string{CountWREDDropped}, 1, "packets"},
	{"SAI_QUEUE_STAT_GREEN_WRED_DROPPED_PACKETS", []string{CountWREDGreen}, 1, "packets"},
	{"SAI_QUEUE_STAT_YELLOW_WRED_DROPPED_PACKETS", []string{CountWREDYellow}, 1, "packets"},
	{"SAI_QUEUE_STAT_RED_WRED_DROPPED_PACKETS", []string{CountWREDRed}, 1, "packets"},
	{"SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", []string{CountPoolMax}, 1, "bytes"},
	{"SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES", []string{CountPoolHeadroomMax}, 1, "bytes"},
	{"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", []string{CountWatchdogStorms}, 1, "storms"},
	{"PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", []string{CountWatchdogRestored}, 1, "storms"},
	{"PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", []string{CountWatchdogTxDrops}, 1, "packets"},
	{"PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS", []string{CountWatchdogRxDrops}, 1, "packets"},
	{"SAI_PORT_STAT_PAUSE_RX_PKTS", []string{CountPauseXoffRx, CountPauseXonRx}, 1, "frames"},
	{"SAI_PORT_STAT_PAUSE_TX_PKTS", []string{CountPauseXoffTx, CountPauseRefreshTx, CountPauseXonTx}, 1, "frames"},
}

// hostAliases are the names of the mlx5 driver: ethtool -S, and hw_counters of
// the RDMA device.
var hostAliases = []alias{
	{"rx_prio%d_pause", []string{CountPFCXoffRx, CountPFCXonRx}, 1, "frames"},
	{"tx_prio%d_pause", []string{CountPFCXoffTx, CountPFCRefreshTx, CountPFCXonTx}, 1, "frames"},
	{"rx_prio%d_pause_duration", []string{CountPausedSeconds}, 1e6, "us"},
	{"rx_prio%d_pause_transition", []string{CountPauseEpisodes}, 1, "episodes"},
	{"rx_global_pause", []string{CountPauseXoffRx, CountPauseXonRx}, 1, "frames"},
	{"tx_global_pause", []string{CountPauseXoffTx, CountPauseRefreshTx, CountPauseXonTx}, 1, "frames"},
	{"tx_pause_storm_warning_events", []string{CountPauseWarnings}, 1, "events"},
	{"tx_pause_storm_error_events", []string{CountPauseErrors}, 1, "events"},
	{"np_cnp_sent", []string{CountCNPSent}, 1, "packets"},
	{"rp_cnp_handled", []string{CountCNPHandled}, 1, "packets"},
	{"np_ecn_marked_roce_packets", []string{CountCEReceived}, 1, "packets"},
	{"out_of_sequence", []string{CountOutOfSequence}, 1, "packets"},
	{"packet_seq_err", []string{CountNaksReceived}, 1, "packets"},
	{"local_ack_timeout_err", []string{CountTimeouts}, 1, "timeouts"},
}

// aliasIndex finds the aliases that a counter contributes to.
type aliasIndex map[string][]*alias

func indexAliases(list []alias) aliasIndex {
	x := aliasIndex{}
	for i := range list {
		for _, of := range list[i].of {
			x[of] = append(x[of], &list[i])
		}
	}
	return x
}

// applies says whether a counter can carry the alias: a name with a priority
// in it needs one.
func (a *alias) applies(c *Counter) bool {
	return !strings.Contains(a.name, "%d") || c.Prio >= 0
}

// counterName returns the derived name for a priority.
func (a *alias) counterName(prio int8) string {
	if strings.Contains(a.name, "%d") {
		return fmt.Sprintf(a.name, prio)
	}
	return a.name
}

// source says how the value was derived, for the derived_from column.
func (a *alias) source() string {
	s := strings.Join(a.of, "+")
	if a.scale != 1 {
		s += fmt.Sprintf("*%g", a.scale)
	}
	return s
}

// derived is a counter under an operator's name.
type derived struct {
	Counter
	from string
}

// deriveCounters gives the aliases of counters that are sorted by object and
// priority, in the order of the counters that they first depend on. hosts
// tells hosts from switches by name; objects of other nodes have no aliases.
func deriveCounters(counters []Counter, hosts map[string]bool, give func(*derived)) {
	onSwitch, onHost := indexAliases(switchAliases), indexAliases(hostAliases)
	var of []derived // this object and priority
	flush := func() {
		for i := range of {
			give(&of[i])
		}
		of = of[:0]
	}
	for i := range counters {
		c := &counters[i]
		if i > 0 && (c.Object != counters[i-1].Object || c.Prio != counters[i-1].Prio) {
			flush()
		}
		host, known := hosts[nodeOf(c.Object)]
		if !known {
			continue
		}
		index := onSwitch
		if host {
			index = onHost
		}
		for _, a := range index[c.Name] {
			if !a.applies(c) {
				continue
			}
			name := a.counterName(c.Prio)
			j := 0
			for j < len(of) && of[j].Name != name {
				j++
			}
			if j == len(of) {
				of = append(of, derived{Counter{Object: c.Object, Prio: c.Prio, Name: name}, a.source()})
			}
			of[j].Value += c.Value * a.scale
		}
	}
	flush()
}

// nodeOf returns the node that an object belongs to.
func nodeOf(o Object) string {
	if i := strings.IndexAny(o, ":/>"); i >= 0 {
		return o[:i]
	}
	return o
}
