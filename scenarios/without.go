package scenarios

// Counterfactual returns the settings that take away what the scenario is
// about: those that it names itself, or those that remove its faults. There are
// none for a scenario that has neither.
func (s *Spec) Counterfactual() []string {
	switch {
	case len(s.Without) > 0:
		return s.Without
	case len(s.Faults) > 0:
		return []string{"faults=[]"}
	}
	return nil
}
