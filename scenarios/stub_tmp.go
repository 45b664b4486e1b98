package scenarios

import "rdmasim/sim"

func Resolved(s *Spec) (yaml, tree []byte, err error) { return []byte("name: x\n"), []byte("{}"), nil }
func Hash(s *Spec) string                             { return "0000" }
func (s *Spec) at(path string, err error) error       { return err }
func Defaults() Spec {
	s := Spec{Name: "x", Seed: 1, Series: SeriesSpec{Interval: 10 * sim.Microsecond, Hosts: true, MaxQPs: 128}}
	s.NIC = NICSpec{PathMTU: 1024, RetryCount: 7, RNRRetry: 7}
	return s
}
