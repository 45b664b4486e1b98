package switchconf

import "rdmasim/sim"

// The tables of lossless profiles that switches ship with: figures of
// pg_profile_lookup.ini of sonic-net/sonic-buildimage.

const buildimage = "SONiC: sonic-buildimage, pg_profile_lookup.ini of "

var (
	speedsTo100 = []int{10, 25, 40, 50, 100}
	speedsTo800 = []int{10, 25, 40, 50, 100, 200, 400, 800}
	half        = sim.Ratio(0.5)
)

var headroomTables = append(nvidiaTables, broadcomTables...)

var nvidiaTables = []headroomTable{
	{HeadroomRow: HeadroomRow{ASIC: "spc1", Platform: "NVIDIA SN2700", Xon: 19456, Source: buildimage + "ACS-MSN2700"},
		cables: []sim.Length{5, 40, 300}, speeds: speedsTo100, xoff: [][]sim.Bytes{
			{29696, 29696, 29696, 29696, 30720},
			{29696, 31744, 32768, 33792, 38912},
			{36864, 48128, 59392, 66560, 104448}}},
	{HeadroomRow: HeadroomRow{ASIC: "spc2", Platform: "NVIDIA SN3700", Xon: 19456, Source: buildimage + "ACS-MSN3700"},
		cables: []sim.Length{5, 40, 300}, speeds: append(speedsTo100[:5:5], 200), xoff: [][]sim.Bytes{
			{32768, 32768, 33792, 33792, 33792, 35840},
			{33792, 35840, 37888, 38912, 44032, 55296},
			{40960, 54272, 66560, 75776, 117760, 203776}}},
	// The gearbox of this switch adds 396 to 400 ns each way: no other delay
	// gives its 15 rows.
	{HeadroomRow: HeadroomRow{ASIC: "spc2", Platform: "NVIDIA SN3800", Xon: 19456, Gearbox: 400 * sim.Nanosecond, Source: buildimage + "ACS-MSN3800"},
		cables: []sim.Length{5, 40, 300}, speeds: speedsTo100, xoff: [][]sim.Bytes{
			{34816, 38912, 41984, 45056, 56320},
			{35840, 40960, 46080, 50176, 66560},
			{44032, 59392, 75776, 87040, 140288}}},
	{HeadroomRow: HeadroomRow{ASIC: "spc3", Platform: "NVIDIA SN4700", Xon: 19456, Source: buildimage + "ACS-MSN4700"}, xon8: 37888,
		cables: []sim.Length{5, 40, 300}, speeds: []int{10, 25, 40, 50, 100, 200, 400}, xoff: [][]sim.Bytes{
			{32768, 32768, 33792, 33792, 33792, 35840, 38912},
			{33792, 35840, 37888, 38912, 44032, 55296, 77824},
			{40960, 54272, 66560, 75776, 117760, 203776, 373760}},
		sizes: map[[2]int]sim.Bytes{{400, 5}: 86016, {400, 40}: 124928, {400, 300}: 420864}},
	{HeadroomRow: HeadroomRow{ASIC: "spc4", Platform: "NVIDIA SN5600", Xon: 19456, Source: buildimage + "ACS-SN5600"}, xon8: 38912,
		cables: []sim.Length{5, 40, 300}, speeds: speedsTo800, xoff: [][]sim.Bytes{
			{45056, 48128, 57344, 63488, 113664, 131072, 231424, 257024},
			{46080, 52224, 62464, 69632, 126976, 157696, 283648, 362496},
			{56320, 76800, 101376, 118784, 225280, 355328, 677888, 1150976}},
		// 40G at 5 m has 1024 less than its xon and xoff make: a slip of the table.
		sizes: map[[2]int]sim.Bytes{{40, 5}: 75776, {800, 5}: 304128, {800, 40}: 410624, {800, 300}: 1198080}},
	{HeadroomRow: HeadroomRow{ASIC: "spc4", Platform: "NVIDIA SN5610N", Xon: 19456, LosslessMTU: 4096, SmallPackets: &half, SharedPool: true, Dynamic: true,
		MTU: 9216, Source: buildimage + "Mellanox-SN5610N-C224O8"}, xon8: 38912,
		cables: []sim.Length{5, 40}, speeds: speedsTo800, xoff: [][]sim.Bytes{
			{20480, 21504, 24576, 26624, 44032, 50176, 86016, 95232},
			{20480, 22528, 25600, 28672, 49152, 60416, 104448, 132096}}},
	// Its long cables lead to switches with small frames: no MTU but 1024 gives these rows.
	{HeadroomRow: HeadroomRow{ASIC: "spc4", Platform: "NVIDIA SN5610N", Xon: 19456, LosslessMTU: 4096, SmallPackets: &half, SharedPool: true, Dynamic: true,
		MTU: 1024, Source: buildimage + "Mellanox-SN5610N-C224O8"}, xon8: 38912,
		cables: []sim.Length{250, 1000}, speeds: speedsTo800, xoff: [][]sim.Bytes{
			{14336, 20480, 28672, 33792, 68608, 107520, 208896, 349184},
			{24576, 46080, 68608, 83968, 168960, 308224, 610304, 1153024}}},
}

var broadcomTables = []headroomTable{
	{HeadroomRow: HeadroomRow{ASIC: "j2", Platform: "Arista 7800R3", XonOffset: 363506, DynamicTh: -6, Source: buildimage + "Arista 7800R3"},
		cables: []sim.Length{300}, speeds: []int{100}, xoff: [][]sim.Bytes{{110592}}},
	{HeadroomRow: HeadroomRow{ASIC: "j2", Platform: "Arista 7800R3", XonOffset: 1454025, DynamicTh: -5, Source: buildimage + "Arista 7800R3"},
		cables: []sim.Length{300}, speeds: []int{400}, xoff: [][]sim.Bytes{{315392}}},
	{HeadroomRow: HeadroomRow{ASIC: "td2", Platform: "common profile td2/gen RDMA-CENTRIC", Xon: 18432, XonOffset: 2496, DynamicTh: -1, Source: buildimage + "td2/gen/RDMA-CENTRIC"},
		cables: []sim.Length{5, 40, 300}, speeds: []int{1, 10, 40, 50, 100}, xoff: [][]sim.Bytes{
			{40560, 40560, 45136, 45344, 47216},
			{40560, 40560, 47216, 48048, 52624},
			{40560, 40560, 62816, 67600, 91728}},
		sizes: map[[2]int]sim.Bytes{ // 1248 more than xoff
			{1, 5}: 41808, {10, 5}: 41808, {40, 5}: 46384, {50, 5}: 46592, {100, 5}: 48464,
			{1, 40}: 41808, {10, 40}: 41808, {40, 40}: 48464, {50, 40}: 49296, {100, 40}: 53872,
			{1, 300}: 41808, {10, 300}: 41808, {40, 300}: 64064, {50, 300}: 68848, {100, 300}: 92976}},
	{HeadroomRow: HeadroomRow{ASIC: "td3", Platform: "Dell S5232F", Size: 1024, XonOffset: 2048, DynamicTh: -3, Source: buildimage + "Dell S5232F"},
		cables: []sim.Length{5, 40, 300}, speeds: []int{100}, xoff: [][]sim.Bytes{{162048}, {173568}, {272640}}},
	{HeadroomRow: HeadroomRow{ASIC: "th", Platform: "Arista 7060CX-32S", Size: 1248, Xon: 2288, XonOffset: 2288, Source: buildimage + "Arista-7060CX-32S"},
		cables: []sim.Length{5, 40, 300}, speeds: speedsTo100, xoff: [][]sim.Bytes{
			{35776, 53248, 66560, 90272, 165568},
			{37024, 53248, 71552, 96096, 177632},
			{46176, 79040, 108160, 141856, 268736}}},
	{HeadroomRow: HeadroomRow{ASIC: "th2", Platform: "Arista 7260CX3", Size: 1248, Xon: 1248, XonOffset: 2496, Source: buildimage + "th2/7260/BALANCED"},
		cables: []sim.Length{5, 40, 300}, speeds: []int{40, 50, 100}, xoff: [][]sim.Bytes{
			{29536, 54080, 54080},
			{31616, 59696, 59696},
			{48256, 101088, 101088}}},
	{HeadroomRow: HeadroomRow{ASIC: "th3", Platform: "Dell Z9332F", Size: 2540, XonOffset: 2540, DynamicTh: -2, Source: buildimage + "Dell Z9332F"},
		cables: []sim.Length{5, 40, 300, 2000}, speeds: []int{100, 400}, xoff: [][]sim.Bytes{{68580, 178562}, {74422, 201930}, {117348, 373888}, {0, 1498092}}},
	{HeadroomRow: HeadroomRow{ASIC: "th5", Platform: "Micas W6940", Size: 18796, XonOffset: 3556, DynamicTh: -2, Source: buildimage + "Micas W6940"},
		cables: []sim.Length{5, 40, 300}, speeds: []int{100, 200, 400, 800}, xoff: [][]sim.Bytes{
			{147066, 229362, 393192, 729488},
			{160274, 255778, 446024, 835406},
			{258572, 452374, 839216, 1621536}}},
	{HeadroomRow: HeadroomRow{ASIC: "th5", Platform: "Arista 7060X6", Size: 18796, XonOffset: 3556, Source: buildimage + "Arista 7060X6"},
		cables: []sim.Length{5, 40}, speeds: []int{200}, xoff: [][]sim.Bytes{{300990}, {300990}}},
	{HeadroomRow: HeadroomRow{ASIC: "tl10", Platform: "Marvell Teralynx 10", Size: 1518, XonOffset: 13824, DynamicTh: 1, Source: buildimage + "Teralynx 10 d64p512t"},
		cables: []sim.Length{5, 40, 300}, speeds: []int{100, 400, 800}, xoff: [][]sim.Bytes{
			{40064, 129920, 247424},
			{44544, 147072, 285312},
			{77824, 280960, 550528}}},
}
