package scenarios

// operatorPort returns what the operator of a switch calls a port: as the imported
// topology has it, else as the files of SONiC that the switch is configured by
// do; "" where nobody says.
func (w *world) operatorPort(node, port int, known string) string {
	sp := w.swSpec[node]
	if known != "" || sp == nil || sp.Sonic.read == nil {
		return known
	}
	ports, err := sonicPorts(sp.Sonic.read.Switch, sp.Sonic.Ports)
	if err != nil || port >= len(ports) {
		return ""
	}
	return ports[port].Name
}
