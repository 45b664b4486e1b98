package trace

// FileDevices holds the state of the devices of a run on real hardware, and what
// could not be measured there.
const FileDevices = "devices.json"

// DevicesFile is the content of FileDevices.
type DevicesFile struct {
	Devices []DeviceState `json:"devices"`
	// Pollers are the threads that served completion queues, one for each machine.
	Pollers []Poller `json:"pollers,omitempty"`
	// Missing says of everything that was looked for and not found, why.
	Missing []Missing `json:"not_measured"`
}

// Poller is the thread that served completion queues.
type Poller struct {
	Device string `json:"device"`         // near which it should run
	Node   int    `json:"numa_node"`      // of that device, -1 = none or unknown
	CPUs   string `json:"cpus"`           // to which it was pinned, such as 0-3,8; "" = not pinned
	Spins  bool   `json:"spins"`          // instead of sleeping until an event
	Note   string `json:"note,omitempty"` // why it is not where it should be
}

// DeviceState is an RDMA device at the start of a run.
type DeviceState struct {
	Name     string `json:"name"`
	Driver   string `json:"driver"`
	Firmware string `json:"firmware"`
	Netdev   string `json:"interface"`
	MTU      int    `json:"mtu_bytes"` // of the interface
	NUMA     int    `json:"numa_node"` // -1 = none or unknown
	Address  string `json:"address"`
	// PFC lists the priorities on which PFC is on; nil = not measured.
	PFC []int `json:"pfc_priorities"`
	// TrustDSCP: the priority follows the DSCP; nil = not measured.
	TrustDSCP *bool `json:"trust_dscp"`
	// Congestion are the parameters of congestion control under the driver's
	// names and in its units; nil = not measured.
	Congestion map[string]int64 `json:"congestion"`
}

// Missing is something that was not measured.
type Missing struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// Devices reads FileDevices; ok is false where a run has none.
func (r *Run) Devices() (d DevicesFile, ok bool, err error) {
	ok, err = r.ReadJSON(FileDevices, &d)
	return d, ok, err
}
