package congestion

import (
	"fmt"

	"rdmasim/sim"
)

// DCQCNParams are the knobs of DCQCN's reaction point. Letters are those of
// the paper (Zhu et al., "Congestion Control for Large-Scale RDMA
// Deployments", SIGCOMM'15, section 3); where a knob exists on a NIC, its
// mlxconfig name is given in the doc tag.
type DCQCNParams struct {
	Feedback    FeedbackPath `key:"feedback" doc:"how marks come back: cnp (CNP packets) or ack (a bit on every ACK)"`
	CNPInterval sim.Duration `key:"cnp_interval" doc:"receiver: least time between two CNPs of a queue pair (N in the paper, MIN_TIME_BETWEEN_CNPS)"`

	AlphaUpdate  AlphaUpdate  `key:"alpha_update" doc:"per_cnp: every CNP raises alpha and restarts its timer; per_window: every window of alpha_timer raises or decays alpha once"`
	AlphaTimer   sim.Duration `key:"alpha_timer" doc:"alpha decays once per this time without a CNP (K in the paper, DCE_TCP_RTT)"`
	G            sim.Ratio    `key:"g" doc:"gain of alpha (1 - DCE_TCP_G/1024)"`
	InitialAlpha sim.Ratio    `key:"initial_alpha" doc:"alpha at the first CNP (INITIAL_ALPHA_VALUE/1024)"`
	AlphaFirst   bool         `key:"alpha_first" doc:"a CNP raises alpha before it cuts the rate; the paper cuts first"`

	Cut               CutTrigger   `key:"cut" doc:"at_cnp: a CNP cuts at once; polled: a periodic check cuts if a CNP has come since the last check"`
	CutInterval       sim.Duration `key:"cut_interval" doc:"at_cnp: least time between two cuts, 0s = none; polled: period of the check (RATE_REDUCE_MONITOR_PERIOD)"`
	CutGain           sim.Ratio    `key:"cut_gain" doc:"a cut multiplies the rate by 1 - alpha*cut_gain (1024/2^RPG_GD)"`
	MinDecreaseFactor sim.Ratio    `key:"min_decrease_factor" doc:"one cut leaves at least this share of the rate (RPG_MIN_DEC_FAC)"`
	FirstCNPRate      sim.Rate     `key:"first_cnp_rate" doc:"rate set by the first CNP instead of a cut, 0bps = cut (RATE_TO_SET_ON_FIRST_CNP)"`
	Clamp             bool         `key:"clamp_target" doc:"every cut sets the target to the rate before the cut (CLAMP_TGT_RATE); otherwise only a cut that follows an increase by the byte counter does"`
	ClampAfterTime    bool         `key:"clamp_target_after_time_increase" doc:"so does a cut that follows an increase by the rate timer (CLAMP_TGT_RATE_AFTER_TIME_INC)"`
	MinRate           sim.Rate     `key:"min_rate" doc:"the rate never falls below this (RPG_MIN_RATE)"`
	MaxRate           sim.Rate     `key:"max_rate" doc:"the rate never exceeds this, 0bps = line rate (RPG_MAX_RATE)"`

	RateTimer   sim.Duration `key:"rate_timer" doc:"time between two increases (T in the paper, RPG_TIME_RESET)"`
	ByteCounter sim.Bytes    `key:"byte_counter" doc:"bytes sent between two increases, 0B = off (B in the paper, RPG_BYTE_RESET)"`
	F           int          `key:"f" doc:"stages of fast recovery (RPG_THRESHOLD)"`
	StageTest   StageTest    `key:"stage_test" doc:"after_count: an event counts before its stage is compared with f, which gives f-1 steps of fast recovery; before_count: f steps"`
	HyperStage  HyperStage   `key:"hyper_stage" doc:"hyper increase needs more than f events of: both (timer and byte counter) or timer"`
	HyperStep   HyperStep    `key:"hyper_step" doc:"hyper increase adds r_hai times: linear (stages beyond f), linear_plus_one, or fixed (1)"`
	RAI         sim.Rate     `key:"r_ai" doc:"additive increase of the target (RPG_AI_RATE)"`
	RHAI        sim.Rate     `key:"r_hai" doc:"hyper increase of the target (RPG_HAI_RATE)"`

	IntegerRates   bool      `key:"integer_rates" doc:"rates are whole bit/s, truncated at every step"`
	VariableWindow sim.Bytes `key:"variable_window" doc:"unacknowledged payload at line rate, less in proportion to the rate; 0B = no limit"`
}

// FeedbackPath names a Feedback in scenarios.
type FeedbackPath string

// Ways for marks to come back.
const (
	FeedbackCNP FeedbackPath = "cnp"
	FeedbackAck FeedbackPath = "ack"
)

// AlphaUpdate says when alpha rises.
type AlphaUpdate string

// Rules for alpha.
const (
	AlphaPerCNP    AlphaUpdate = "per_cnp"    // SIGCOMM'15, section 3, equations 1 and 2
	AlphaPerWindow AlphaUpdate = "per_window" // NICs and the HPCC ns-3 model
)

// CutTrigger says when a CNP takes effect.
type CutTrigger string

// Triggers of a cut.
const (
	CutAtCNP  CutTrigger = "at_cnp"
	CutPolled CutTrigger = "polled"
)

// StageTest says whether an event counts before or after its stage is judged.
type StageTest string

// Orders of counting and judging.
const (
	TestAfterCount  StageTest = "after_count"
	TestBeforeCount StageTest = "before_count"
)

// HyperStage says which counters hold hyper increase back.
type HyperStage string

// Counters that hyper increase waits for.
const (
	HyperBoth  HyperStage = "both"
	HyperTimer HyperStage = "timer"
)

// HyperStep says how hyper increase grows from event to event.
type HyperStep string

// Steps of hyper increase.
const (
	HyperLinear        HyperStep = "linear"          // i = min stage - F, IEEE 802.1Qau
	HyperLinearPlusOne HyperStep = "linear_plus_one" // i = min stage - F + 1, the ns-3 model of the paper's author
	HyperFixed         HyperStep = "fixed"           // i = 1, the HPCC ns-3 model
)

// sigcomm15 is the parameter set of the paper, sections 3 and 5, as its
// authors restate it in "ECN or Delay" (CoNEXT'16), table 1. Minimum rate and
// decrease floor are not in the paper and are off.
func sigcomm15() DCQCNParams {
	return DCQCNParams{
		Feedback: FeedbackCNP, CNPInterval: 50 * sim.Microsecond,
		AlphaUpdate: AlphaPerCNP, AlphaTimer: 55 * sim.Microsecond, G: 1.0 / 256, InitialAlpha: 1,
		Cut: CutAtCNP, CutGain: 0.5, Clamp: true, MinRate: 1 * sim.Mbps,
		RateTimer: 55 * sim.Microsecond, ByteCounter: 10 * sim.MB, F: 5,
		StageTest: TestAfterCount, HyperStage: HyperBoth, HyperStep: HyperLinear,
		RAI: 40 * sim.Mbps, RHAI: 400 * sim.Mbps,
	}
}

// connectx is what mlxconfig prints on ConnectX cards as shipped. Its choices
// where the card leaves room: CNP interval 4 us (cards say 0, 2 or 4); byte
// counter off, because the unit of RPG_BYTE_RESET is doubtful, so that hyper
// increase looks at the timer alone, as it would in effect if 32767 were bytes.
func connectx() DCQCNParams {
	return DCQCNParams{
		Feedback: FeedbackCNP, CNPInterval: 4 * sim.Microsecond,
		AlphaUpdate: AlphaPerWindow, AlphaTimer: 1 * sim.Microsecond, G: 5.0 / 1024, InitialAlpha: 1023.0 / 1024,
		Cut: CutAtCNP, CutInterval: 4 * sim.Microsecond, CutGain: 0.5, MinDecreaseFactor: 0.5,
		ClampAfterTime: true, MinRate: 1 * sim.Mbps,
		RateTimer: 300 * sim.Microsecond, F: 1,
		StageTest: TestBeforeCount, HyperStage: HyperTimer, HyperStep: HyperLinear,
		RAI: 5 * sim.Mbps, RHAI: 50 * sim.Mbps,
	}
}

// hpcc is CC_MODE 1 of the HPCC authors' ns-3 model with the values that its
// run.py chooses at 100 Gb/s.
func hpcc() DCQCNParams {
	return DCQCNParams{
		Feedback:    FeedbackAck,
		AlphaUpdate: AlphaPerWindow, AlphaTimer: 1 * sim.Microsecond, G: 1.0 / 256, InitialAlpha: 1,
		Cut: CutPolled, CutInterval: 4 * sim.Microsecond, CutGain: 0.5, ClampAfterTime: true,
		MinRate:   1 * sim.Gbps,
		RateTimer: 300 * sim.Microsecond, F: 1,
		StageTest: TestBeforeCount, HyperStage: HyperTimer, HyperStep: HyperFixed,
		RAI: 20 * sim.Mbps, RHAI: 200 * sim.Mbps, IntegerRates: true,
	}
}

// hpccPaper is the choice dcqcn_paper of the same run.py: the timers of the
// SIGCOMM'15 paper in the machine of the HPCC model.
func hpccPaper() DCQCNParams {
	p := hpcc()
	p.AlphaTimer, p.CutInterval, p.RateTimer = 50*sim.Microsecond, 50*sim.Microsecond, 55*sim.Microsecond
	return p
}

var _ = sim.Register(Algorithms, "dcqcn", "rate-based control by ECN marks and CNPs (Zhu et al., SIGCOMM'15), as in papers, NICs and simulators",
	sigcomm15(), map[string]DCQCNParams{
		"sigcomm15": sigcomm15(), "connectx": connectx(), "hpcc": hpcc(), "hpcc_paper": hpccPaper(),
	}, NewDCQCN)

// dcqcn is the algorithm with its parameters; reaction points share it.
type dcqcn struct {
	p   DCQCNParams
	pow [63]float64 // pow[i] = (1-g)^(2^i)
}

// NewDCQCN checks the parameters and returns the algorithm.
func NewDCQCN(p DCQCNParams) (Algorithm, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("congestion dcqcn: %w", err)
	}
	a := &dcqcn{p: p}
	f := 1 - float64(p.G)
	for i := range a.pow {
		a.pow[i] = f
		f *= f
	}
	return a, nil
}

func (a *dcqcn) Feedback() (Feedback, sim.Duration) {
	if a.p.Feedback == FeedbackAck {
		return EchoOnAck, 0
	}
	return CNPPackets, a.p.CNPInterval
}

func (a *dcqcn) ECT() bool { return true }

func (a *dcqcn) NewReactionPoint(line sim.Rate, _ sim.Duration) ReactionPoint {
	if a.p.MaxRate > 0 {
		line = min(line, a.p.MaxRate)
	}
	return newDCQCNPoint(a, line)
}

func (p *DCQCNParams) check() error {
	return firstError(
		oneOf("feedback", p.Feedback, FeedbackCNP, FeedbackAck),
		oneOf("alpha_update", p.AlphaUpdate, AlphaPerCNP, AlphaPerWindow),
		oneOf("cut", p.Cut, CutAtCNP, CutPolled),
		oneOf("stage_test", p.StageTest, TestAfterCount, TestBeforeCount),
		oneOf("hyper_stage", p.HyperStage, HyperBoth, HyperTimer),
		oneOf("hyper_step", p.HyperStep, HyperLinear, HyperLinearPlusOne, HyperFixed),
		within("cnp_interval", p.CNPInterval, 0, sim.Second),
		within("alpha_timer", p.AlphaTimer, minTimer, sim.Second),
		within("rate_timer", p.RateTimer, minTimer, 100*sim.Second),
		p.checkCutInterval(),
		within("g", p.G, 0, 1),
		within("initial_alpha", p.InitialAlpha, 0, 1),
		within("cut_gain", p.CutGain, 0, 1),
		within("min_decrease_factor", p.MinDecreaseFactor, 0, 1),
		within("f", p.F, 0, 1<<20),
		within("min_rate", p.MinRate, 1*sim.Kbps, maxRate),
		within("max_rate", p.MaxRate, 0, maxRate),
		within("first_cnp_rate", p.FirstCNPRate, 0, maxRate),
		within("r_ai", p.RAI, 0, maxRate),
		within("r_hai", p.RHAI, 0, maxRate),
		p.checkByteCounter(),
		within("variable_window", p.VariableWindow, 0, sim.TB),
		p.checkRates(),
	)
}

func (p *DCQCNParams) checkCutInterval() error {
	if p.Cut == CutPolled {
		return within("cut_interval", p.CutInterval, minTimer, sim.Second)
	}
	return within("cut_interval", p.CutInterval, 0, sim.Second)
}

func (p *DCQCNParams) checkByteCounter() error {
	if p.ByteCounter == 0 {
		return nil
	}
	return within("byte_counter", p.ByteCounter, 256*sim.Byte, sim.TB)
}

func (p *DCQCNParams) checkRates() error {
	for _, r := range []struct {
		key  string
		rate sim.Rate
	}{{"max_rate", p.MaxRate}, {"first_cnp_rate", p.FirstCNPRate}} {
		if r.rate > 0 && r.rate < p.MinRate {
			return fmt.Errorf("%s %v is below min_rate %v: want at least min_rate, or 0bps", r.key, r.rate, p.MinRate)
		}
	}
	return nil
}
