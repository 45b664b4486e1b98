package validation

import (
	"fmt"

	"rdmasim/sim"
)

// otherSwitch is a switch test at another point: what is changed, for people and
// as settings.
type otherSwitch struct {
	file, where string
	settings    []string
	level       Level
}

func measureOtherSwitches(b *Bench) error {
	for _, list := range [][]otherSwitch{losslessPoints(), globalPausePoints(), watchdogPoints(), burstPoints(), manyToOnePoints(), mixedSpeedPoints(), rocePoints()} {
		for _, c := range list {
			if c.level > b.Level {
				continue
			}
			if err := b.switchTest(c.file, c.where, c.settings...); err != nil {
				return err
			}
		}
	}
	return nil
}

func losslessPoints() (list []otherSwitch) {
	for _, c := range []struct {
		gbps, metres, mtu int
	}{{25, 40, 1024}, {400, 3, 4096}, {100, 300, 512}, {50, 2000, 2048}} {
		half := fmt.Sprintf("%dMbps", c.gbps*500)
		sent := float64(c.gbps) * 0.125 // MB in the 2 ms that are measured
		list = append(list, otherSwitch{"switch-pfc-lossless.yaml", fmt.Sprintf("%dG, %d m, MTU %d", c.gbps, c.metres, c.mtu), []string{
			fmt.Sprintf("topology.star.rate=%dGbps", c.gbps), fmt.Sprintf("topology.star.cable=%dm", c.metres), fmt.Sprintf("nic.path_mtu=%d", c.mtu), "nic.congestion.none.rate=" + half,
			"nics.0.congestion.none.rate=" + half, "nics.1.congestion.none.rate=" + half, fmt.Sprintf("nics.0.path_mtu=%d", c.mtu), fmt.Sprintf("nics.1.path_mtu=%d", c.mtu),
			fmt.Sprintf("expect=['sum(flows.delivered_bytes, tag=test) == 0', 'sum(counters.tx_bytes, port=h1:0) < 8MB', 'sum(counters.tx_bytes, port=h1:0) > 100KB', packets.dropped.lossless == 0, "+
				"'sum(counters.tx_bytes, port=sw0:0) > %.3fMB', 'sum(counters.tx_bytes, port=sw0:4) > %.3fMB']", 0.985*sent, 0.985*sent)}, Quick})
	}
	return list
}

func globalPausePoints() (list []otherSwitch) {
	for _, c := range []struct {
		gbps, mtu int
		interval  string
	}{{25, 1024, "20us"}, {400, 4096, "5us"}, {100, 256, "30us"}} {
		list = append(list, otherSwitch{"switch-global-pause.yaml", fmt.Sprintf("%dG, MTU %d, each %s", c.gbps, c.mtu, c.interval), []string{
			fmt.Sprintf("topology.star.rate=%dGbps", c.gbps), fmt.Sprintf("nic.path_mtu=%d", c.mtu), "faults.0.pause_storm.interval=" + c.interval,
			fmt.Sprintf("expect=[global_pause.received > 50, pfc.episodes == 0, 'goodput_bps.total > %.3fGbps', packets.dropped.lossless == 0]", 0.985*float64(c.gbps)*wireShare(c.mtu, "none"))}, Quick})
	}
	return list
}

// quiet are the expectations of a storm that a watchdog must not see.
const quiet = "expect=[watchdog.storms == 0, packets.dropped.watchdog == 0, packets.dropped.lossless == 0, packets.retransmitted == 0]"

func watchdogPoints() (list []otherSwitch) {
	const ms = sim.Millisecond
	list = append(list, otherSwitch{"switch-watchdog.yaml", "storm of half of the detection", []string{"faults.0.pause_storm.to=350ms", quiet}, Quick})
	for _, c := range []storms{{poll: 200 * ms, detect: 200 * ms, restore: 200 * ms}, {poll: 50 * ms, detect: 100 * ms, restore: 400 * ms}, {poll: 100 * ms, detect: 300 * ms, restore: 1000 * ms}} {
		where := fmt.Sprintf("poll %v, detect %v, restore %v", c.poll, c.detect, c.restore)
		set := []string{"switch.watchdog.broadcom.poll=" + c.poll.String(), "switch.watchdog.broadcom.detect=" + c.detect.String(), "switch.watchdog.broadcom.restore=" + c.restore.String()}
		to := 150*ms + c.detect + c.poll + 200*ms
		list = append(list, otherSwitch{"switch-watchdog.yaml", where, append([]string{"faults.0.pause_storm.to=" + to.String(), fmt.Sprintf("expect=[watchdog.storms == 1, watchdog.restored == 1, "+
			"'first(events, kind=watchdog) - 150ms within %v..%v', packets.dropped.watchdog > 0, packets.dropped.lossless == 0, 'sum(counters.drops_watchdog, port=sw0:1) == packets.dropped.watchdog', "+
			"\"sum(flows.retransmits, tag='other class') == 0\", \"sum(flows.retransmits, tag='other port') == 0\"]", c.polls(c.detect), c.polls(c.detect)+c.poll)}, set...), Quick})
		to = 150*ms + c.detect/2
		list = append(list, otherSwitch{"switch-watchdog.yaml", where + ", storm of half of the detection", append([]string{"faults.0.pause_storm.to=" + to.String(), quiet}, set...), Quick})
	}
	return list
}

func burstPoints() (list []otherSwitch) {
	for _, poll := range []sim.Duration{50 * sim.Millisecond, 200 * sim.Millisecond, 400 * sim.Millisecond} {
		list = append(list, otherSwitch{"switch-watchdog-burst.yaml", "poll " + poll.String(), []string{
			"switch.watchdog.broadcom.poll=" + poll.String(), "switch.watchdog.broadcom.detect=" + (4 * poll).String(), "faults.0.pause_storm.from=" + (poll * 13 / 10).String(),
			"faults.0.pause_storm.to=" + (poll * 18 / 10).String(), "faults.0.pause_storm.period=" + (2 * poll).String(), "duration=" + (35 * poll).String(), "max_duration=100s"}, Quick})
	}
	return list
}

func manyToOnePoints() (list []otherSwitch) {
	for _, c := range []struct {
		gbps, lossless, lossy int // percent of the port
	}{{25, 30, 25}, {400, 30, 25}, {100, 50, 25}, {100, 90, 25}} {
		lossless, lossy := fmt.Sprintf("%dMbps", c.gbps*c.lossless*10), fmt.Sprintf("%dMbps", c.gbps*c.lossy*10)
		list = append(list, otherSwitch{"switch-many-to-one.yaml", fmt.Sprintf("%dG, %d %% and %d %%", c.gbps, c.lossless, c.lossy), []string{fmt.Sprintf("topology.star.rate=%dGbps", c.gbps),
			// As many bytes at every speed: buffers are full when it is measured.
			"warmup=" + (100 * sim.Millisecond / sim.Duration(c.gbps)).String(), "duration=" + (400 * sim.Millisecond / sim.Duration(c.gbps)).String(),
			"nic.congestion.none.rate=" + lossless, "nics.0.congestion.none.rate=" + lossless, "nics.1.congestion.none.rate=" + lossy, "nics.2.congestion.none.rate=" + lossy}, Quick})
	}
	return list
}

func mixedSpeedPoints() (list []otherSwitch) {
	for _, c := range []struct{ from, to int }{{200, 25}, {800, 100}, {100, 40}} {
		sent := float64(c.to) / 4 // MB in the 2 ms that are measured
		list = append(list, otherSwitch{"switch-mixed-speed.yaml", fmt.Sprintf("%dG to %dG", c.from, c.to), []string{fmt.Sprintf("topology.star.rate=%dGbps", c.to), fmt.Sprintf("links.0.rate=%dGbps", c.from),
			fmt.Sprintf("expect=[packets.dropped.lossless == 0, pfc.xoff > 0, 'sum(counters.tx_bytes, port=sw0:0) within %.4fMB..%.4fMB']", sent-0.006-sent/1000, sent+0.006+sent/1000)}, Quick})
	}
	return list
}

func rocePoints() (list []otherSwitch) {
	for _, c := range []struct {
		gbps, mtu  int
		size, verb string
	}{{25, 1024, "1MB", "write"}, {400, 4096, "8MB", "send"}, {100, 256, "64KB", "read"}, {200, 2048, "1MB", "read"}} {
		list = append(list, otherSwitch{"switch-roce-1to1.yaml", fmt.Sprintf("%dG, MTU %d, %s of %s", c.gbps, c.mtu, c.verb, c.size), []string{fmt.Sprintf("topology.star.rate=%dGbps", c.gbps),
			fmt.Sprintf("nic.path_mtu=%d", c.mtu), "traffic.0.incast.verb=" + c.verb, "traffic.0.incast.message=" + c.size, "duration=20ms"}, Quick})
	}
	const more = "packets.dropped.lossless == 0, packets.retransmitted == 0, sum(counters.naks_sent) == 0, 'sum(counters.pfc_xoff_tx, port=sw0:*, priority=3) > 0', " +
		"'sum(counters.pfc_xoff_tx, port=sw0:*, priority=4) > 0', 'sum(counters.pfc_xoff_tx, port=sw0:*, priority=0) == 0'"
	for _, c := range []struct {
		gbps, w3, w4 int
		large, small string
	}{{100, 3, 1, "1MB", "64KB"}, {25, 1, 1, "128KB", "4KB"}, {400, 1, 2, "64KB", "8KB"}} {
		ratio := float64(c.w3) / float64(c.w4)
		list = append(list, otherSwitch{"switch-roce-nto1.yaml", fmt.Sprintf("%dG, weights %d and %d, %s and %s", c.gbps, c.w3, c.w4, c.large, c.small), []string{fmt.Sprintf("topology.star.rate=%dGbps", c.gbps),
			fmt.Sprintf("switch.scheduler.weights={0: 1, 3: %d, 4: %d}", c.w3, c.w4), "traffic.0.incast.message=" + c.large, "traffic.1.incast.message=" + c.small,
			fmt.Sprintf("expect=[%s, \"sum(counters.tx_bytes, port='h[1234]:0') / sum(counters.tx_bytes, port='h[5678]:0') within %.4f..%.4f\"]", more, 0.95*ratio, 1.05*ratio)}, Quick})
	}
	return list
}
