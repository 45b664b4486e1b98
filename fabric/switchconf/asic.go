package switchconf

import (
	"strings"

	"rdmasim/sim"
)

// ASIC is what the meaning of a configuration depends on: the same numbers say
// different things to different chips.
type ASIC struct {
	Name   string // short: th, spc3
	Doc    string // name in full
	Vendor string // broadcom, nvidia, marvell, cisco
	Cell   sim.Bytes
	// HeadroomInSize: the size of a lossless profile holds its xon and xoff
	// (NVIDIA). Elsewhere size is a guaranteed minimum and xoff comes on top.
	HeadroomInSize bool
	// Names are parts of SONiC's platform and hwsku strings, in small letters,
	// that tell the chip.
	Names []string
}

// ASICs are the chips that are known. Sizes of cells
// are those of SONiC's own switch tests (sonic-mgmt, tests/qos/files).
var ASICs = []ASIC{
	{Name: "j2", Doc: "Broadcom Jericho2", Vendor: "broadcom", Cell: 4096, Names: []string{"7800r3", "7280dr3", "7280cr3", "ixr7250", "ixr-7250"}},
	{Name: "spc1", Doc: "NVIDIA Spectrum", Vendor: "nvidia", Cell: 96, HeadroomInSize: true, Names: []string{"sn2700", "msn2700", "sn2410", "msn2410", "sn2100", "msn2100", "sn2010", "msn2010", "sn2740", "msn2740"}},
	{Name: "spc2", Doc: "NVIDIA Spectrum-2", Vendor: "nvidia", Cell: 144, HeadroomInSize: true, Names: []string{"sn3700", "msn3700", "sn3800", "msn3800", "sn3420", "msn3420"}},
	{Name: "spc3", Doc: "NVIDIA Spectrum-3", Vendor: "nvidia", Cell: 144, HeadroomInSize: true, Names: []string{"sn4600", "msn4600", "sn4700", "msn4700", "sn4410", "msn4410"}},
	{Name: "spc4", Doc: "NVIDIA Spectrum-4", Vendor: "nvidia", Cell: 192, HeadroomInSize: true, Names: []string{"sn5600", "sn5610", "sn5400"}},
	{Name: "spc5", Doc: "NVIDIA Spectrum-5", Vendor: "nvidia", Cell: 192, HeadroomInSize: true, Names: []string{"sn5640"}},
	{Name: "spc6", Doc: "NVIDIA Spectrum-6", Vendor: "nvidia", Cell: 256, HeadroomInSize: true, Names: []string{"sn6600"}},
	{Name: "s1", Doc: "Cisco Silicon One", Vendor: "cisco", Cell: 384, Names: []string{"8101", "8102", "8111", "8122", "8201", "8202", "cisco-8"}},
	{Name: "td2", Doc: "Broadcom Trident2", Vendor: "broadcom", Cell: 208, Names: []string{"s6000", "7050-qx", "7050_qx", "7050qx", "as5712", "as6712", "as7716"}},
	{Name: "td3", Doc: "Broadcom Trident3", Vendor: "broadcom", Cell: 256, Names: []string{"s5232f", "s5248f", "s5296f", "s5212f", "s5224f", "7050cx3", "7050sx3", "7050_cx3", "7050_sx3", "as7726", "as7326"}},
	{Name: "th", Doc: "Broadcom Tomahawk", Vendor: "broadcom", Cell: 208, Names: []string{"7060-cx32s", "7060cx-32s", "7060_cx32s", "s6100", "z9100", "as7712", "haliburton", "seastone"}},
	{Name: "th2", Doc: "Broadcom Tomahawk2", Vendor: "broadcom", Cell: 208, Names: []string{"7260cx3", "7260_cx3", "z9264f", "as7816"}},
	{Name: "th3", Doc: "Broadcom Tomahawk3", Vendor: "broadcom", Cell: 254, Names: []string{"z9332f", "7060px4", "7060dx4", "7060_px4", "7060_dx4", "7368x4", "as9716"}},
	{Name: "th5", Doc: "Broadcom Tomahawk5", Vendor: "broadcom", Cell: 254, Names: []string{"7060x6", "w6940", "z9864f"}},
	{Name: "th6", Doc: "Broadcom Tomahawk6", Vendor: "broadcom", Cell: 254, Names: []string{"7060x7"}},
	{Name: "tl10", Doc: "Marvell Teralynx 10", Vendor: "marvell", Cell: 128, Names: []string{"d64p512t", "dbmvtx9180", "teralynx"}},
}

// LookupASIC returns the chip of that short name, nil when there is none.
func LookupASIC(name string) *ASIC {
	return find(ASICs, func(a *ASIC) bool { return a.Name == strings.ToLower(name) })
}

// IdentifyASIC returns the chip that a platform or hwsku string of SONiC tells,
// nil when none is known. A short name is one such string.
func IdentifyASIC(s string) *ASIC {
	s = strings.ToLower(s)
	if a := LookupASIC(s); a != nil {
		return a
	}
	var best *ASIC
	length := 0
	for i := range ASICs {
		for _, n := range ASICs[i].Names {
			if len(n) > length && strings.Contains(s, n) {
				best, length = &ASICs[i], len(n)
			}
		}
	}
	return best
}
