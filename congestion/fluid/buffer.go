package fluid

import "rdmasim/sim"

var (
	_ = describe(Oracle{
		ID:       "dynamic_threshold",
		Title:    "where n saturated queues of one shared buffer stop, and what stays free",
		Equation: "q_i < alpha (B - sum q): T = alpha B/(1 + n alpha), free B/(1 + n alpha)",
		Source:   "Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM ToN 6(2), 1998, section III",
		Limits:   "steady state, all queues saturated; with S bytes held by others B - S takes the place of B",
	})
	_ = describe(Oracle{
		ID:       "sigcomm15_thresholds",
		Title:    "bounds of PFC and ECN thresholds that let ECN mark before PFC pauses",
		Equation: "t_PFC <= (B - 8 n t_flight)/(8 n); static: t_ECN < t_PFC/n; dynamic: t_ECN < beta (B - 8 n t_flight)/(8 n (beta+1))",
		Source:   "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM'15, section 4",
		Limits:   "n ports, 8 priorities; the static bound of the formula is 0.765 KB for the paper's switch, the paper prints 0.85 KB",
	})
	_ = describe(Oracle{
		ID:       "hpcc_pfc_queue",
		Title:    "stationary queue of a PFC-only incast of n equal senders in the HPCC ns-3 model",
		Equation: "B' = buffer - (n+1)(headroom + 4096), T = B'/(8+n), queue = n (T + 4096)",
		Source:   "derivation from that model's buffer: alpha 1/8, reserve 4096 bytes per port and priority, headroom per port; dynamic_threshold with alpha 1/8",
		Limits:   "one switch, all ports at NIC speed",
	})
)

// DynamicThreshold returns the length in bytes at which each of n saturated
// queues stops. Source: the oracle dynamic_threshold.
func DynamicThreshold(buffer sim.Bytes, alpha float64, n int) float64 {
	return alpha * DynamicFree(buffer, alpha, n)
}

// DynamicFree returns the bytes that n saturated queues leave free. Source:
// the oracle dynamic_threshold.
func DynamicFree(buffer sim.Bytes, alpha float64, n int) float64 {
	return float64(buffer) / (1 + float64(n)*alpha)
}

// SwitchBuffer is the switch of SIGCOMM'15, section 4.
type SwitchBuffer struct {
	Buffer     sim.Bytes // B, shared
	Ports      int       // n
	Priorities int
	Flight     sim.Bytes // t_flight, headroom per port and priority
}

// free returns what is left when every headroom is set aside.
func (s SwitchBuffer) free() float64 { return float64(s.Buffer) - s.queues()*float64(s.Flight) }

func (s SwitchBuffer) queues() float64 { return float64(s.Ports) * float64(s.Priorities) }

// PFC returns the largest static PFC threshold in bytes that loses nothing.
// Source: the oracle sigcomm15_thresholds.
func (s SwitchBuffer) PFC() float64 { return s.free() / s.queues() }

// StaticECN returns the bound of the ECN threshold in bytes for static PFC
// thresholds: n ingress ports may share one egress queue. Source: the oracle
// sigcomm15_thresholds.
func (s SwitchBuffer) StaticECN() float64 { return s.PFC() / float64(s.Ports) }

// DynamicECN returns the bound of the ECN threshold in bytes for the dynamic
// PFC threshold beta times the free buffer. Source: the oracle
// sigcomm15_thresholds.
func (s SwitchBuffer) DynamicECN(beta float64) float64 {
	return beta * s.free() / (s.queues() * (beta + 1))
}

// hpccReserve is what the HPCC model sets aside per port and priority.
const hpccReserve = 4096 * sim.Byte

// HPCCQueue returns the stationary queue in bytes of n equal senders under PFC
// alone in the HPCC ns-3 model. Source: the oracle hpcc_pfc_queue.
func HPCCQueue(buffer, headroom sim.Bytes, n int) float64 {
	return float64(n) * (HPCCThreshold(buffer, headroom, n) + float64(hpccReserve))
}

// HPCCThreshold returns the threshold in bytes of each ingress port there.
func HPCCThreshold(buffer, headroom sim.Bytes, n int) float64 {
	left := float64(buffer) - float64(n+1)*float64(headroom+hpccReserve)
	return left / float64(8+n)
}

// HPCCHeadroom returns the headroom per port of that model: three times what
// is in flight one way.
func HPCCHeadroom(rate sim.Rate, delay sim.Duration) sim.Bytes { return 3 * rate.BytesIn(delay) }
