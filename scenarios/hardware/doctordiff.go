package hardware

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmasim/fabric/netem"
)

// aspect is something that ought to be the same on machines that work together.
type aspect struct {
	id, what string
	severity netem.Severity
	remedy   string
	of       func(d *device) string // "" = this device does not tell
}

// aspects of devices. Those of a kind of device are compared among that kind.
var aspects = []aspect{
	{differentMTUs, "MTU of the interfaces", netem.Warning, "ip link set dev IF mtu 4200 or more on all of them, and on every switch between", func(d *device) string {
		if d.DeviceState.MTU == 0 {
			return ""
		}
		return fmt.Sprint(d.DeviceState.MTU)
	}},
	{differentMTUs, "path MTU of the ports", netem.Warning, "queue pairs need the same path MTU at both ends: raise the smaller MTUs, or ask for the smallest (nic: {path_mtu: ...}, perftest -m)", func(d *device) string {
		if d.MTU == 0 {
			return ""
		}
		return fmt.Sprint(int(d.MTU.Bytes()))
	}},
	{"versions-differ", "driver", netem.Note, "", func(d *device) string { return d.Driver }},
	{"settings-differ", "priorities with PFC", netem.Warning, "the same priorities on all hosts and switches: dcb pfc or mlnx_qos", func(d *device) string {
		if d.PFC == nil {
			return ""
		}
		return fmt.Sprint(d.PFC)
	}},
	{"settings-differ", "trust in the DSCP", netem.Warning, "mlnx_qos -i IF --trust dscp on all of them", func(d *device) string {
		if d.TrustDSCP == nil {
			return ""
		}
		return map[bool]string{true: "on", false: "off"}[*d.TrustDSCP]
	}},
}

// compare adds a finding for everything in which the machines differ. kernels are
// their kernels' releases.
func (x *Examined) compare(devices []*device, kernels map[string]string) {
	values := map[string][]string{}
	for _, machine := range slices.Sorted(maps.Keys(kernels)) {
		values[kernels[machine]] = append(values[kernels[machine]], machine)
	}
	x.differ(aspect{id: "versions-differ", what: "kernel", severity: netem.Note, remedy: "drivers that come with the kernel differ as well"}, values)
	for _, a := range aspects {
		x.differ(a, valuesOf(devices, a.of))
	}
	// Versions make sense among devices of one kind only.
	kinds := map[string]bool{}
	for _, d := range devices {
		kinds[d.Driver], kinds["board "+d.Board] = true, true
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		x.differ(aspect{id: "versions-differ", what: "module " + kind, severity: netem.Warning, remedy: "install the same driver everywhere"},
			valuesOf(devices, func(d *device) string {
				if d.Driver != kind || kind == "" {
					return ""
				}
				return d.Module
			}))
		x.differ(aspect{id: "versions-differ", what: "firmware of " + kind, severity: netem.Warning, remedy: "install the same firmware on all NICs of one kind"},
			valuesOf(devices, func(d *device) string {
				if d.Board == "" || "board "+d.Board != kind {
					return ""
				}
				return d.Firmware
			}))
		for _, key := range congestionKeys(devices, kind) {
			x.differ(aspect{id: "settings-differ", what: "congestion control of " + kind + ", " + key, severity: netem.Warning, remedy: "the same parameters on all NICs of one kind, or they do not share a link fairly"},
				valuesOf(devices, func(d *device) string {
					if v, ok := d.Congestion[key]; ok && d.Driver == kind {
						return fmt.Sprint(v)
					}
					return ""
				}))
		}
	}
}

// congestionKeys returns the parameters that devices of a driver show.
func congestionKeys(devices []*device, driver string) []string {
	keys := map[string]bool{}
	for _, d := range devices {
		if d.Driver == driver {
			for k := range d.Congestion {
				keys[k] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// valuesOf groups devices by what they say.
func valuesOf(devices []*device, of func(*device) string) map[string][]string {
	values := map[string][]string{}
	for _, d := range devices {
		if v := of(d); v != "" {
			values[v] = append(values[v], d.name)
		}
	}
	return values
}

// differ adds a finding if there is more than one value.
func (x *Examined) differ(a aspect, values map[string][]string) {
	delete(values, "")
	if len(values) < 2 {
		return
	}
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, v+" on "+names(values[v]))
	}
	x.Findings = append(x.Findings, netem.Finding{ID: a.id, Severity: a.severity, Where: "machines", What: a.what + ": " + strings.Join(parts, "; "), Remedy: a.remedy})
}
