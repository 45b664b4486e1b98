package scenarios

import "rdmasim/sim"

func Resolved(s *Spec) (yaml, tree []byte, err error) { return []byte("name: x\n"), []byte("{}"), nil }
func Hash(s *Spec) string                             { return "0000" }
func (s *Spec) at(path string, err error) error       { return err }
func Defaults() Spec {
	s := Spec{Name: "t", Seed: 1, Duration: 200 * sim.Microsecond, MaxDuration: sim.Second, Compat: "none"}
	s.Series = SeriesSpec{Interval: 10 * sim.Microsecond, Hosts: true, MaxQPs: 128}
	sw := &s.Switch
	sw.Mode = "store_and_forward"
	sw.Buffer = BufferSpec{Size: 32 * sim.MiB, Alpha: 0.125, Reserve: 4096, Headroom: Auto[sim.Bytes]{Auto: true}, XonOffset: 3072, EgressAlpha: 1}
	sw.PFC = PFCSpec{Priorities: []int{3}, Quanta: 65535, Refresh: Auto[sim.Duration]{Auto: true}, Timer: true, Response: Auto[sim.Duration]{Auto: true}}
	sw.Scheduler = SchedulerSpec{Strict: []int{6, 7}, Quantum: 2048}
	sw.Balance = BalanceSpec{Method: "ecmp", Hash: "mix64"}
	sw.Trust = "dscp"
	sw.DSCPMap = map[int]int{26: 3, 48: 6}
	s.NIC = NICSpec{PathMTU: 1024, Priority: 3, DSCP: 26, AckPriority: -1, AckDSCP: -1, CNPPriority: 6, CNPDSCP: 48, RxBuffer: 1024 * 1024, RxXoff: Auto[sim.Bytes]{Auto: true},
		AckEvery: 16, Recovery: "go_back_n", Timeout: 14, RetryCount: 7, RNRTimer: 12, RNRRetry: 7, SourcePorts: "hash", Encapsulation: "none"}
	return s
}
