package scenarios

import "rdmasim/sim"

const gbps = sim.Gbps

// oneCurve is a curve that holds at every rate.
func oneCurve(kmin, kmax sim.Bytes, pmax sim.Ratio) []BaselineCurve {
	return []BaselineCurve{{Kmin: kmin, Kmax: kmax, Pmax: pmax}}
}

// hpccCurves are Kmin 100 KB and Kmax 400 KB at 25 Gb/s, in proportion.
func hpccCurves() []BaselineCurve {
	return []BaselineCurve{{Rate: 25 * gbps, Kmin: 100 * sim.KB, Kmax: 400 * sim.KB, Pmax: 0.2}, {Rate: 50 * gbps, Kmin: 200 * sim.KB, Kmax: 800 * sim.KB, Pmax: 0.2},
		{Rate: 100 * gbps, Kmin: 400 * sim.KB, Kmax: 1600 * sim.KB, Pmax: 0.2}}
}

// Papers and simulators.
var (
	_ = registerBaseline("dcqcn-paper", Baseline{For: "40G", Curves: oneCurve(5*sim.KB, 200*sim.KB, 0.01), Label: FromMemory,
		With: "g 1/256, N 50 us, T 55 us, B 10 MB, F 5, R_AI 40 Mb/s; XOFF by dynamic beta 8, headroom 22.4 KB", Source: "deployment of the DCQCN paper, SIGCOMM'15"})
	_ = registerBaseline("hpcc-dcqcn", Baseline{For: "25G to 100G", Curves: hpccCurves(), Linear: true, Label: ReadInSource,
		With: "alpha timer 1 us, cuts 4 us apart, T 300 us, F 1; 32 MB at 100G", Source: "HPCC ns-3 model, preset dcqcn"})
	_ = registerBaseline("hpcc-dcqcn-paper", Baseline{For: "25G to 100G", Curves: hpccCurves(), Linear: true, Label: ReadInSource,
		With: "timers of 50, 50 and 55 us", Source: "HPCC ns-3 model, preset dcqcn_paper"})
	_ = registerBaseline("hpcc-dctcp", Baseline{For: "every rate", Linear: true, Label: ReadInSource, Curves: []BaselineCurve{{Rate: 100 * gbps, Kmin: 300 * sim.KB, Kmax: 300 * sim.KB, Pmax: 1}},
		With: "g 1/16", Source: "HPCC ns-3 model, preset dctcp: 30 KB per 10 Gb/s"})
	_ = registerBaseline("powertcp", Baseline{For: "25G to 100G", Curves: hpccCurves(), Linear: true, Label: ReadInSource, Source: "PowerTCP, ns3-datacenter"})
	_ = registerBaseline("conweave", Baseline{For: "every rate", Curves: oneCurve(100*sim.KB, 400*sim.KB, 0.2), Label: ReadInSource, Source: "ConWeave, SIGCOMM'23"})
	_ = registerBaseline("simai", Baseline{For: "25G to 1.6T", Label: ReadInSource, Curves: []BaselineCurve{
		{Rate: 25 * gbps, Kmin: 100 * sim.KB, Kmax: 400 * sim.KB, Pmax: 0.2}, {Rate: 50 * gbps, Kmin: 200 * sim.KB, Kmax: 800 * sim.KB, Pmax: 0.2},
		{Rate: 100 * gbps, Kmin: 400 * sim.KB, Kmax: 1600 * sim.KB, Pmax: 0.2}, {Rate: 200 * gbps, Kmin: 300 * sim.KB, Kmax: 1200 * sim.KB, Pmax: 0.8},
		{Rate: 400 * gbps, Kmin: 800 * sim.KB, Kmax: 3200 * sim.KB, Pmax: 0.2}, {Rate: 1600 * gbps, Kmin: 600 * sim.KB, Kmax: 2400 * sim.KB, Pmax: 0.2}},
		With: "T 900 us, AI 50 and HAI 100 Mb/s, F 1, MTU 9000, a window; 32 MB", Source: "SimAI (Alibaba)"})
	_ = registerBaseline("paraleon-expert", Baseline{For: "100G, 400G", Curves: oneCurve(1600*sim.KB, 6400*sim.KB, 0.2), Label: ReadInSource,
		With: "AI 50 and HAI 150 Mb/s, cuts 80 us apart, CNPs 96 us apart", Source: "Paraleon, ICNP'24, setting of an expert"})
)

// SONiC templates. Counts are of files in sonic-buildimage.
var (
	_ = registerBaseline("sonic-default", Baseline{For: "every rate", Curves: oneCurve(1048576, 2097152, 0.05), Label: ReadInSource, Source: "SONiC qos_config.j2, platforms without an override (37 templates)"})
	_ = registerBaseline("sonic-th2-j2", Baseline{For: "40G to 400G", Curves: oneCurve(2*sim.MB, 10*sim.MB, 0.05), Label: ReadInSource,
		With: "on Jericho2 at 400G and 300 m: xoff 315392, alpha 2^-5", Source: "SONiC, Tomahawk2 and Jericho2 platforms (47 templates)"})
	_ = registerBaseline("sonic-td3-th", Baseline{For: "10G to 100G", Curves: oneCurve(250*sim.KB, 2097152, 0.05), Label: ReadInSource,
		With: "Tomahawk at 100G and 40 m: xoff 177632, alpha 1; Trident3: 173568, alpha 1/8", Source: "SONiC, Trident3 and Tomahawk platforms (8 templates)"})
	_ = registerBaseline("sonic-th5", Baseline{For: "100G to 800G", Curves: oneCurve(131072, 262144, 0.05), Label: ReadInSource,
		With: "xoff 300990, alpha 1 on the SKU of 256 ports of 200G", Source: "SONiC, Arista 7060X6 (10 templates)"})
	_ = registerBaseline("sonic-td2-balanced", Baseline{For: "10G to 100G", Curves: oneCurve(1048576, 12000144, 0.05), Label: ReadInSource, Source: "SONiC, td2 BALANCED (3 templates)"})
	_ = registerBaseline("sonic-d6332", Baseline{For: "100G", Curves: oneCurve(104*sim.KB, 312*sim.KB, 1), Label: ReadInSource, Source: "SONiC, Inventec D6332 (4 templates); no drop probability there: 100 by default"})
	_ = registerBaseline("sonic-s9130", Baseline{For: "100G", Curves: oneCurve(184128, 184128, 1), Label: ReadInSource, Source: "SONiC, Ingrasys S9130 (2 templates): a step"})
	_ = registerBaseline("sonic-as7116", Baseline{For: "100G", Curves: oneCurve(80192, 642656, 1), Label: ReadInSource, Source: "SONiC, Accton AS7116; no drop probability there: 100 by default"})
	_ = registerBaseline("sonic-es6220", Baseline{For: "10G", Curves: oneCurve(4095, 32760, 1), Label: ReadInSource, Source: "SONiC, Centec ES6220; no drop probability there: 100 by default"})
	_ = registerBaseline("sonic-ecn-test", Baseline{For: "every rate", Curves: oneCurve(500*sim.KB, 2000*sim.KB, 0.05), Label: ReadInSource, Source: "sonic-mgmt, ECN accuracy test"})
)

// Vendors.
var (
	_ = registerBaseline("cumulus", Baseline{For: "every rate", Curves: oneCurve(150*sim.KB, 1500*sim.KB, 1), Label: ReadInSource, With: "headroom by the switch for 100 m", Source: "NVIDIA Cumulus Linux and Onyx, default of RoCE"})
	_ = registerBaseline("cisco", Baseline{For: "25G to 400G", Label: SecondarySource, Curves: []BaselineCurve{
		{Rate: 25 * gbps, Kmin: 150 * sim.KB, Kmax: 3 * sim.MB, Pmax: 0.07}, {Rate: 40 * gbps, Kmin: 150 * sim.KB, Kmax: 3 * sim.MB, Pmax: 0.07},
		{Rate: 100 * gbps, Kmin: 150 * sim.KB, Kmax: 3 * sim.MB, Pmax: 0.07}, {Rate: 400 * gbps, Kmin: 950 * sim.KB, Kmax: 3 * sim.MB, Pmax: 0.07}},
		With: "weight 0", Source: "Cisco AI/ML blueprint and 400G configurations; kbytes taken as 1000"})
	_ = registerBaseline("cisco-100g", Baseline{For: "25G to 100G", Curves: oneCurve(150*sim.KB, 3*sim.MB, 0.07), Label: SecondarySource, With: "weight 0, headroom by the switch to 100 m", Source: "Cisco AI/ML blueprint, NDFC; kbytes taken as 1000"})
	_ = registerBaseline("cisco-400g", Baseline{For: "400G", Curves: oneCurve(950*sim.KB, 3*sim.MB, 0.07), Label: SecondarySource, Source: "six configurations of Nexus 9000 at 400G; kbytes taken as 1000"})
	_ = registerBaseline("cisco-hci", Baseline{For: "25G, 100G", Curves: oneCurve(150*sim.KB, 1500*sim.KB, 1), Label: SecondarySource, With: "buffer 101920, pause 46800, resume 34320 bytes", Source: "Cisco, storage of hyperconverged clusters; kbytes taken as 1000"})
	_ = registerBaseline("arista-7388", Baseline{For: "200G", Curves: oneCurve(2000*254, 10000*254, 0.2), Label: ReadInSource, With: "DSCP 26 and 48", Source: "AMD cluster guide, Arista 7388: 2000 and 10000 segments, taken as 254 B"})
	_ = registerBaseline("arista-leaf", Baseline{For: "400G", Curves: oneCurve(256*sim.KB, 512*sim.KB, 1), Label: SecondarySource, Source: "Arista leaf example; kbytes taken as 1000"})
	_ = registerBaseline("juniper-jvd", Baseline{For: "400G", Curves: []BaselineCurve{{MinFill: 0.55, MaxFill: 0.9, Pmax: 1}}, Label: SecondarySource, With: "66 to 80 % of the buffer lossless", Source: "Juniper validated design, fill levels"})
	_ = registerBaseline("juniper-30-100", Baseline{For: "every rate", Curves: []BaselineCurve{{MinFill: 0.3, MaxFill: 1, Pmax: 1}}, Label: SecondarySource, Source: "Juniper examples, fill levels"})
	_ = registerBaseline("juniper-70-90", Baseline{For: "every rate", Curves: []BaselineCurve{{MinFill: 0.7, MaxFill: 0.9, Pmax: 1}}, Label: SecondarySource, Source: "Juniper examples, fill levels"})
	_ = registerBaseline("huawei-latency", Baseline{For: "25G, 100G", Label: ReadInSource, Curves: []BaselineCurve{
		{Rate: 25 * gbps, Kmin: 7 * sim.KB, Kmax: 150 * sim.KB, Pmax: 0.3}, {Rate: 100 * gbps, Kmin: 7 * sim.KB, Kmax: 500 * sim.KB, Pmax: 0.3}},
		With: "RTT 20 us, dynamic XOFF 4, headroom 250 cells", Source: "Huawei EDOC1100155250, latency-sensitive"})
	_ = registerBaseline("huawei-throughput", Baseline{For: "25G, 100G", Label: ReadInSource, Curves: []BaselineCurve{
		{Rate: 25 * gbps, Kmin: 7 * sim.KB, Kmax: 200 * sim.KB, Pmax: 0.1}, {Rate: 100 * gbps, Kmin: 7 * sim.KB, Kmax: 750 * sim.KB, Pmax: 0.1}},
		With: "RTT 20 us", Source: "Huawei EDOC1100155250, throughput-sensitive"})
	_ = registerBaseline("huawei-ce16800", Baseline{For: "100G", Curves: oneCurve(7*sim.KB, 18*sim.MB, 1), Label: ReadInSource, Source: "Huawei EDOC1100155250, CE16800"})
	_ = registerBaseline("huawei-ce6863", Baseline{For: "25G", Curves: oneCurve(247520, 18*sim.MB, 1), Label: SecondarySource, With: "static XOFF of 1500 cells", Source: "Huawei CE6863 storage sample"})
	_ = registerBaseline("dell-z9332f", Baseline{For: "100G", Curves: oneCurve(500*sim.KB, 1500*sim.KB, 0.2), Label: SecondarySource, With: "17408 KB for PFC, 10240 KB of it shared", Source: "Dell OS10 case, Z9332F; KB taken as 1000"})
	_ = registerBaseline("dell-azure-local", Baseline{For: "25G", Curves: oneCurve(150*sim.KB, 1500*sim.KB, 1), Label: SecondarySource, Source: "Dell OS10, Azure Local; KB taken as 1000"})
	_ = registerBaseline("meta-400g", Baseline{For: "400G", Label: SecondarySource, With: "DCQCN off, deep buffers in the spine", Source: "Meta, SIGCOMM'24",
		Lacks: "twice the values of their 200G network, which are not published in bytes"})
)
