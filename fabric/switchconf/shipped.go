package switchconf

import "rdmasim/sim"

// The headroom tables that SONiC ships (sonic-buildimage,
// device/*/*/pg_profile_lookup.ini), by ASIC. Sizes are bytes.

// shippedLookup returns the rows of an ASIC, nil when none are known.
func shippedLookup(asic string) []LookupRow {
	s, ok := shippedTables[asic]
	if !ok {
		return nil
	}
	var rows []LookupRow
	for _, line := range s.xoff {
		for i, xoff := range line.xoff {
			row := LookupRow{
				Speed: line.speed, Cable: [...]sim.Length{5 * sim.Metre, 40 * sim.Metre, 300 * sim.Metre}[i],
				Size: s.size, Xon: s.xon, Xoff: xoff, XonOffset: s.offset, HasOffset: s.offset > 0, Threshold: s.threshold,
				From: Origin{Kind: Computed, Why: "shipped with SONiC"},
			}
			if s.inSize {
				row.Size = s.xon + xoff
				if line.speed == 800*sim.Gbps { // eight lanes take twice the pipeline latency
					row.Xon *= 2
					row.Size = row.Xon + xoff
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

type shippedTable struct {
	size, xon, offset sim.Bytes
	threshold         int64
	inSize            bool // size is xon + xoff
	xoff              []shippedLine
}

// shippedLine has the headroom for cables of 5, 40 and 300 m.
type shippedLine struct {
	speed sim.Rate
	xoff  [3]sim.Bytes
}

var shippedTables = map[string]shippedTable{
	// Arista-7060CX-32S
	"th": {size: 1248, xon: 2288, offset: 2288, xoff: []shippedLine{
		{10 * sim.Gbps, [3]sim.Bytes{35776, 37024, 46176}},
		{25 * sim.Gbps, [3]sim.Bytes{53248, 53248, 79040}},
		{40 * sim.Gbps, [3]sim.Bytes{66560, 71552, 108160}},
		{50 * sim.Gbps, [3]sim.Bytes{90272, 96096, 141856}},
		{100 * sim.Gbps, [3]sim.Bytes{165568, 177632, 268736}},
	}},
	// DellEMC-S5232F
	"td3": {size: 1024, offset: 2048, threshold: -3, xoff: []shippedLine{{100 * sim.Gbps, [3]sim.Bytes{162048, 173568, 272640}}}},
	// DellEMC-Z9332F
	"th3": {size: 2540, offset: 2540, threshold: -2, xoff: []shippedLine{
		{100 * sim.Gbps, [3]sim.Bytes{68580, 74422, 117348}},
		{400 * sim.Gbps, [3]sim.Bytes{178562, 201930, 373888}},
	}},
	// Micas W6940
	"th5": {size: 18796, offset: 3556, threshold: -2, xoff: []shippedLine{
		{100 * sim.Gbps, [3]sim.Bytes{147066, 160274, 258572}},
		{200 * sim.Gbps, [3]sim.Bytes{229362, 255778, 452374}},
		{400 * sim.Gbps, [3]sim.Bytes{393192, 446024, 839216}},
		{800 * sim.Gbps, [3]sim.Bytes{729488, 835406, 1621536}},
	}},
	// Marvell d64p512t
	"tl10": {size: 1518, offset: 13824, threshold: 1, xoff: []shippedLine{
		{100 * sim.Gbps, [3]sim.Bytes{40064, 44544, 77824}},
		{400 * sim.Gbps, [3]sim.Bytes{129920, 147072, 280960}},
		{800 * sim.Gbps, [3]sim.Bytes{247424, 285312, 550528}},
	}},
	// ACS-MSN2700
	"spc1": {xon: 19456, inSize: true, xoff: []shippedLine{
		{10 * sim.Gbps, [3]sim.Bytes{29696, 29696, 36864}},
		{25 * sim.Gbps, [3]sim.Bytes{29696, 31744, 48128}},
		{40 * sim.Gbps, [3]sim.Bytes{29696, 32768, 59392}},
		{50 * sim.Gbps, [3]sim.Bytes{29696, 33792, 66560}},
		{100 * sim.Gbps, [3]sim.Bytes{30720, 38912, 104448}},
	}},
	// SN5600
	"spc4": {xon: 19456, inSize: true, xoff: []shippedLine{
		{100 * sim.Gbps, [3]sim.Bytes{113664, 126976, 225280}},
		{400 * sim.Gbps, [3]sim.Bytes{231424, 283648, 677888}},
		{800 * sim.Gbps, [3]sim.Bytes{257024, 362496, 1150976}},
	}},
}
