package validation

import (
	"fmt"
	"math"

	"rdmasim/fabric/switchconf"
	"rdmasim/sim"
)

var _ = register("B4", Row{
	Title: "headroom table of a SN2700 switch",
	Hard:  true,
	Explain: `xoff = ceil_1K(lossless mtu + occupancy * (port mtu + 2 L C / 198e6 m/s / 8 + 2 gearbox + 0.8 KiB + peer response)),
xon = the pipeline of the switch, 19456 B. The five rows of 5 m are those of the table of validation; the ten of
40 m and 300 m are the rest of the file that the switch ships with.
Source: SONiC buffer_headroom_mellanox.lua and pg_profile_lookup.ini of the SN2700.`,
	Measure: measureVendorHeadroom,
})

func measureVendorHeadroom(b *Bench) error {
	speeds := []sim.Rate{10 * sim.Gbps, 25 * sim.Gbps, 40 * sim.Gbps, 50 * sim.Gbps, 100 * sim.Gbps}
	var lines []Line
	for _, speed := range speeds {
		lines = append(lines, oracleLog(fmt.Sprintf("formula, %v", speed), 5, 300, func(metres float64) float64 {
			h, err := switchconf.ComputeHeadroom(switchconf.HeadroomQuery{ASIC: "spc1", Speed: speed, Cable: sim.Length(metres * float64(sim.Metre))})
			if err != nil {
				return math.NaN()
			}
			return float64(h.Xoff)
		}))
	}
	table := Line{Name: "table of the switch"}
	for _, c := range []struct {
		cable sim.Length
		xoff  [5]sim.Bytes // by speed
	}{
		{5 * sim.Metre, [...]sim.Bytes{29696, 29696, 29696, 29696, 30720}},
		{40 * sim.Metre, [...]sim.Bytes{29696, 31744, 32768, 33792, 38912}},
		{300 * sim.Metre, [...]sim.Bytes{36864, 48128, 59392, 66560, 104448}},
	} {
		for i, speed := range speeds {
			h, err := switchconf.ComputeHeadroom(switchconf.HeadroomQuery{ASIC: "spc1", Speed: speed, Cable: c.cable})
			if err != nil {
				return err
			}
			b.Exact(fmt.Sprintf("%v, %v: xoff and xon", speed, c.cable), fmt.Sprintf("%d B, 19456 B", c.xoff[i]), fmt.Sprintf("%d B, %d B", h.Xoff, h.Xon), "SONiC pg_profile_lookup.ini")
			table.at(float64(c.cable/sim.Metre), float64(c.xoff[i]))
		}
	}
	b.Draw(Curve{Name: "xoff", Title: "Headroom of a SN2700 by cable and speed", X: Axis{Label: "cable (m)", Log: true}, Y: Axis{Label: "xoff (bytes)"}, Lines: append(lines, table)})
	return nil
}
