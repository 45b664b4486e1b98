package figure

// Preset returns the names of the figures that the scenario is about, in the
// order in which its report shows them first; nil where it names none.
func (r *Run) Preset() (names []string) {
	list, _ := lookup(r.Resolved, "report", "figures").([]any)
	for _, v := range list {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return names
}
