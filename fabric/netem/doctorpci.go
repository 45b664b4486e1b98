package netem

import (
	"encoding/binary"
	"fmt"
	"os"
)

// pcie is what the PCI Express capability of a device says.
type pcie struct {
	relaxed     bool // relaxed ordering is allowed
	readRequest int  // largest read request, bytes
	payload     int  // largest payload, bytes
}

// Offsets in the configuration space. Source: PCI Express Base Specification,
// sections 7.5.1.1.11 (capabilities pointer) and 7.5.3.4 (device control).
const (
	pciCapabilities  = 0x34
	pcieCapability   = 0x10
	pcieDeviceCtl    = 8
	pcieRelaxed      = 1 << 4
	pciHeader        = 64
	pciConfigBytes   = 256
	maxCapabilities  = 48
	pciePayloadShift = 5
	pcieReadShift    = 12
)

// parsePCIe finds the capability in a configuration space of 256 bytes or more;
// without privileges one gets 64 of them.
func parsePCIe(b []byte) (p pcie, ok bool) {
	if len(b) < pciConfigBytes {
		return p, false
	}
	at := int(b[pciCapabilities]) &^ 3
	for range maxCapabilities {
		if at < pciHeader || at+pcieDeviceCtl+2 > pciConfigBytes {
			return p, false
		}
		if b[at] == pcieCapability {
			ctl := binary.LittleEndian.Uint16(b[at+pcieDeviceCtl:])
			p.relaxed = ctl&pcieRelaxed != 0
			p.payload = 128 << (ctl >> pciePayloadShift & 7)
			p.readRequest = 128 << (ctl >> pcieReadShift & 7)
			return p, true
		}
		at = int(b[at+1]) &^ 3
	}
	return p, false
}

// fullRead is the read request from which on more gains nothing.
const fullRead = 512

// pci looks at the slot of a device.
func (d *doctor) pci(dev *Device) {
	dir := d.path("sys/class/infiniband", dev.Name, "device")
	now, most := value(dir, "current_link_speed"), value(dir, "max_link_speed")
	width, widest := value(dir, "current_link_width"), value(dir, "max_link_width")
	switch {
	case now == "" || width == "":
	case now != most || width != widest:
		d.add("pcie-link", Warning, dev.Name, fmt.Sprintf("its PCIe link runs at %s x%s, and could at %s x%s: the slot is the bottleneck", now, width, most, widest), "use a slot with all lanes; check risers and the BIOS")
	default:
		d.add("pcie-link", Good, dev.Name, fmt.Sprintf("PCIe link at %s x%s", now, width), "")
	}
	b, err := os.ReadFile(dir + "/config")
	if err != nil {
		return
	}
	p, ok := parsePCIe(b)
	switch {
	case !ok:
		d.add("relaxed-ordering", Unknown, dev.Name, "the PCI configuration cannot be read in full", "run the doctor as root")
	case !p.relaxed:
		d.add("relaxed-ordering", Warning, dev.Name, "relaxed ordering is off: on several platforms writes to memory then wait for each other and throughput stays below the line rate", "switch it on in the BIOS, or PCI_WR_ORDERING=1 by mlxconfig; memory regions ask for it with IBV_ACCESS_RELAXED_ORDERING")
	default:
		d.add("relaxed-ordering", Good, dev.Name, "relaxed ordering is allowed", "")
	}
	if ok && p.readRequest < fullRead {
		d.add("read-request", Warning, dev.Name, fmt.Sprintf("the largest PCIe read request is %d bytes", p.readRequest), "setpci -s ADDRESS CAP_EXP+8.w=5000:f000 (4096 bytes)")
	}
}
