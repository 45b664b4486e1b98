package fluid

import (
	"math"

	"rdmasim/sim"
)

var (
	_ = describe(Oracle{
		ID:       "go_back_n_random",
		Title:    "goodput share of go-back-N under random loss",
		Equation: "eta = (1-p)/(1-p+p W), W = 1 + RTT C/(8 L): packets sent from a lost one until its NAK acts",
		Source:   "derivation: a packet is delivered with 1-p, each loss wastes W transmissions",
		Limits:   "data losses only, long messages (the last packet of a message costs a timeout instead)",
	})
	_ = describe(Oracle{
		ID:       "go_back_n_periodic",
		Title:    "goodput share of go-back-N when every k-th data packet is lost",
		Equation: "eta = 1 - W/k",
		Source:   "derivation, for the experiment of Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM'16, section 4.1 (k = 256)",
		Limits:   "W < k/2: beyond, one packet more or less in W changes what is left by more than 2 % of it where k is below a hundred",
	})
	_ = describe(Oracle{
		ID:       "go_back_0",
		Title:    "packets that go-back-0 sends to complete a message of M packets",
		Equation: "random loss: E = ((1-p)^-M - 1)/p; every k-th packet lost: M if M < k, else the message never completes",
		Source:   "derivation (M successes in a row), for Guo et al., SIGCOMM'16, section 4.1",
		Limits:   "the NAK acts at once",
	})
)

// RecoveryWindow returns W, the packets sent from a lost one until its NAK
// acts: 1 + RTT C/(8 L) for packets of so many bytes on the wire. Source: the
// oracle go_back_n_random.
func RecoveryWindow(rtt sim.Duration, rate sim.Rate, wire sim.Bytes) float64 {
	return 1 + rtt.Seconds()*float64(rate)/(8*float64(wire))
}

// GoBackN returns the share of goodput under random loss with probability p
// when a loss wastes w packets. Source: the oracle go_back_n_random.
func GoBackN(p, w float64) float64 { return (1 - p) / (1 - p + p*w) }

// SelectiveRepeat returns the share of goodput when only lost packets are
// sent again.
func SelectiveRepeat(p float64) float64 { return 1 - p }

// GoBackNPeriodic returns the share of goodput when every k-th packet is lost
// and a loss wastes w packets; 0 when nothing gets through. Source: the oracle
// go_back_n_periodic.
func GoBackNPeriodic(k, w float64) float64 { return math.Max(0, 1-w/k) }

// GoBack0Packets returns the expected packets until a message of m packets is
// through under random loss with probability p. Source: the oracle go_back_0.
func GoBack0Packets(p float64, m int) float64 {
	if p <= 0 {
		return float64(m)
	}
	return math.Expm1(-float64(m)*math.Log1p(-p)) / p
}

// GoBack0Completes reports whether a message of m packets ever completes when
// every k-th packet is lost. Source: the oracle go_back_0.
func GoBack0Completes(k, m int) bool { return m < k }
