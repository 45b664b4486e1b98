package hpcc

import (
	"fmt"
	"math"
	"sort"

	"rdmasim/sim"
)

// key is one key of config.txt: how its values are read and what becomes of it.
type key struct {
	parse func(r *reader, c *Config) error
	judge func(c *Config) (Status, string) // nil = honoured
}

// keys holds every key of the format. A key that is only read under some
// congestion controls is dead under the others.
var keys map[string]key

func init() {
	keys = map[string]key{
		"ENABLE_QCN":                {flag(func(c *Config) *bool { return &c.EnableQCN }), nil},
		"USE_DYNAMIC_PFC_THRESHOLD": {ignored(1), dead("never read: the threshold is always dynamic")},
		"CLAMP_TARGET_RATE":         {flag(func(c *Config) *bool { return &c.ClampTargetRate }), under(DCQCN)},
		"PAUSE_TIME":                {ignored(1), dead("never used as a timer: a pause lasts until XON")},
		"DATA_RATE":                 {ignored(1), dead("never read: rates are in the topology")},
		"LINK_DELAY":                {ignored(1), dead("never read: delays are in the topology")},
		"PACKET_PAYLOAD_SIZE":       {size(func(c *Config) *sim.Bytes { return &c.Payload }, 1, 1, 65000), nil},
		"L2_CHUNK_SIZE":             {size(func(c *Config) *sim.Bytes { return &c.ChunkSize }, 1, 0, math.MaxUint32), judgeChunk},
		"L2_ACK_INTERVAL":           {size(func(c *Config) *sim.Bytes { return &c.AckInterval }, 1, 0, math.MaxUint32), judgeAck},
		"L2_BACK_TO_ZERO":           {flag(func(c *Config) *bool { return &c.BackToZero }), judgeBackToZero},

		"TOPOLOGY_FILE":       {path(func(c *Config) *string { return &c.TopologyFile }), nil},
		"FLOW_FILE":           {path(func(c *Config) *string { return &c.FlowFile }), nil},
		"TRACE_FILE":          {path(func(c *Config) *string { return &c.TraceFile }), unsupported("no packet trace is written: the run directory has series and events")},
		"TRACE_OUTPUT_FILE":   {ignored(1), neverWritten},
		"FCT_OUTPUT_FILE":     {ignored(1), unsupported("paths named in a configuration are never written: see fct.txt in the run directory")},
		"PFC_OUTPUT_FILE":     {ignored(1), neverWritten},
		"QLEN_MON_FILE":       {ignored(1), neverWritten},
		"QLEN_MON_START":      {ignored(1), unsupported("queues are sampled as series says")},
		"QLEN_MON_END":        {ignored(1), unsupported("queues are sampled as series says")},
		"SIMULATOR_STOP_TIME": {seconds(func(c *Config) *sim.Duration { return &c.StopTime }), nil},

		"CC_MODE":                {number(func(c *Config) *CCMode { return &c.CCMode }, math.MinInt32, math.MaxInt32), nil},
		"ALPHA_RESUME_INTERVAL":  {micros(func(c *Config) *sim.Duration { return &c.AlphaResumeInterval }), under(DCQCN)},
		"RATE_DECREASE_INTERVAL": {micros(func(c *Config) *sim.Duration { return &c.RateDecreaseInterval }), under(DCQCN)},
		"RP_TIMER":               {micros(func(c *Config) *sim.Duration { return &c.RPTimer }), under(DCQCN)},
		"EWMA_GAIN":              {float(func(c *Config) *float64 { return &c.EWMAGain }, 0, 1), under(DCQCN, DCTCP)},
		"FAST_RECOVERY_TIMES":    {number(func(c *Config) *int { return &c.FastRecoveryTimes }, 0, math.MaxInt32), under(DCQCN)},
		"RATE_AI":                {rate(func(c *Config) *sim.Rate { return &c.RateAI }), under(DCQCN, HPCC, TIMELY, HPCCPINT)},
		"RATE_HAI":               {rate(func(c *Config) *sim.Rate { return &c.RateHAI }), under(DCQCN, TIMELY)},
		"MIN_RATE":               {rate(func(c *Config) *sim.Rate { return &c.MinRate }), under(DCQCN, HPCC, TIMELY, DCTCP, HPCCPINT)},
		"DCTCP_RATE_AI":          {rate(func(c *Config) *sim.Rate { return &c.DCTCPRateAI }), under(DCTCP)},
		"ERROR_RATE_PER_LINK":    {float(func(c *Config) *float64 { return &c.ErrorRate }, 0, 1), nil},
		"HAS_WIN":                {flag(func(c *Config) *bool { return &c.HasWindow }), nil},
		"GLOBAL_T":               {flag(func(c *Config) *bool { return &c.GlobalT }), judgeGlobalT},
		"VAR_WIN":                {flag(func(c *Config) *bool { return &c.VarWindow }), judgeVarWindow},
		"FAST_REACT":             {flag(func(c *Config) *bool { return &c.FastReact }), under(HPCC, HPCCPINT)},
		"U_TARGET":               {float(func(c *Config) *float64 { return &c.UTarget }, 0, 100), under(HPCC, HPCCPINT)},
		"MI_THRESH":              {number(func(c *Config) *int { return &c.MIThresh }, 0, math.MaxInt32), under(HPCC, HPCCPINT)},
		"INT_MULTI":              {number(func(c *Config) *int { return &c.IntMulti }, 1, math.MaxInt32), under(HPCC)},
		"MULTI_RATE":             {flag(func(c *Config) *bool { return &c.MultiRate }), under(HPCC, HPCCPINT)},
		"SAMPLE_FEEDBACK":        {flag(func(c *Config) *bool { return &c.SampleFeedback }), under(HPCC, HPCCPINT)},
		"PINT_LOG_BASE":          {float(func(c *Config) *float64 { return &c.PintLogBase }, 1, 1000), under(HPCCPINT)},
		"PINT_PROB":              {float(func(c *Config) *float64 { return &c.PintProb }, 0, 1), under(HPCCPINT)},
		"RATE_BOUND":             {flag(func(c *Config) *bool { return &c.RateBound }), judgeRateBound},
		"ACK_HIGH_PRIO":          {flag(func(c *Config) *bool { return &c.AckHighPriority }), nil},
		"LINK_DOWN":              {linkDown, judgeLinkDown},
		"ENABLE_TRACE":           {flag(func(c *Config) *bool { return &c.EnableTrace }), judgeTrace},
		"KMAX_MAP":               {rateMap(0, 0, 4e6), judgeECN},
		"KMIN_MAP":               {rateMap(1, 0, 4e6), judgeECN},
		"PMAX_MAP":               {rateMap(2, 0, 1), judgeECN},
		"BUFFER_SIZE":            {size(func(c *Config) *sim.Bytes { return &c.Buffer }, sim.MiB, 1, 1<<20), nil},
	}
	// Keys of later models that read this format.
	for _, k := range []string{"NIC_TOTAL_PAUSE_TIME", "MON_START", "MON_END", "QP_MON_INTERVAL", "BW_MON_INTERVAL", "QLEN_MON_INTERVAL",
		"BW_MON_FILE", "RATE_MON_FILE", "CNP_MON_FILE", "TOTAL_FLOW_FILE", "SEND_OUTPUT_FILE"} {
		keys[k] = key{ignored(1), unsupported("a key of later models, which the HPCC model does not know")}
	}
}

// keyNames returns all keys in order.
func keyNames() []string {
	names := make([]string, 0, len(keys))
	for n := range keys {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// one reads one word with f.
func one(f func(c *Config, s string) error) func(*reader, *Config) error {
	return func(r *reader, c *Config) error {
		t, err := r.take("a value of " + r.key)
		if err != nil {
			return err
		}
		if err := f(c, t.text); err != nil {
			return r.errorf(t.line, "%s: %v", r.key, err)
		}
		return nil
	}
}

func flag(p func(*Config) *bool) func(*reader, *Config) error {
	return one(func(c *Config, s string) (err error) { *p(c), err = parseBool(s); return })
}

func number[T ~int](p func(*Config) *T, low, high int64) func(*reader, *Config) error {
	return one(func(c *Config, s string) error {
		v, err := parseInt(s, low, high)
		*p(c) = T(v)
		return err
	})
}

func size(p func(*Config) *sim.Bytes, unit sim.Bytes, low, high int64) func(*reader, *Config) error {
	return one(func(c *Config, s string) error {
		v, err := parseInt(s, low, high)
		*p(c) = sim.Bytes(v) * unit
		return err
	})
}

func float(p func(*Config) *float64, low, high float64) func(*reader, *Config) error {
	return one(func(c *Config, s string) (err error) { *p(c), err = parseFloat(s, low, high); return })
}

func rate(p func(*Config) *sim.Rate) func(*reader, *Config) error {
	return one(func(c *Config, s string) (err error) { *p(c), err = parseRate(s); return })
}

func path(p func(*Config) *string) func(*reader, *Config) error {
	return one(func(c *Config, s string) error { *p(c) = s; return nil })
}

func seconds(p func(*Config) *sim.Duration) func(*reader, *Config) error {
	return one(func(c *Config, s string) (err error) {
		if *p(c), err = parseSeconds(s); err == nil && *p(c) == 0 {
			err = fmt.Errorf("0: nothing would run")
		}
		return
	})
}

// micros reads a number of microseconds, whose fraction that model cuts off.
func micros(p func(*Config) *sim.Duration) func(*reader, *Config) error {
	return one(func(c *Config, s string) error {
		v, err := parseFloat(s, 0, 1e9)
		if err == nil && v < 1 {
			err = fmt.Errorf("%q: want 1 or more microseconds: a fraction is cut off, and a timer of 0 never lets time pass", s)
		}
		*p(c) = sim.Duration(v) * sim.Microsecond
		return err
	})
}

// ignored reads n words.
func ignored(n int) func(*reader, *Config) error {
	return func(r *reader, _ *Config) error {
		for range n {
			if _, err := r.take("a value of " + r.key); err != nil {
				return err
			}
		}
		return nil
	}
}

// maxRates bounds the maps; there are about ten rates of Ethernet.
const maxRates = 1000

// rateMap reads `n (rate value)*n`.
func rateMap(which int, low, high float64) func(*reader, *Config) error {
	return func(r *reader, c *Config) error {
		n, err := r.count(r.key, 0, maxRates)
		if err != nil {
			return err
		}
		c.maps[which] = nil
		for i := range n {
			what := fmt.Sprintf("%s: pair %d of %d", r.key, i+1, n)
			t, err := r.take(what)
			if err != nil {
				return err
			}
			bps, err := parseRate(t.text)
			if err != nil {
				return r.errorf(t.line, "%s: %v", what, err)
			}
			if t, err = r.take(what); err != nil {
				return err
			}
			v, err := parseFloat(t.text, low, high)
			if err == nil && which < 2 && v != math.Trunc(v) {
				err = fmt.Errorf("%q: want a whole number of 1000 bytes", t.text)
			}
			if err != nil {
				return r.errorf(t.line, "%s: %v", what, err)
			}
			c.maps[which] = append(c.maps[which], rateValue{bps, v})
		}
		return nil
	}
}

// linkDown reads `us A B`.
func linkDown(r *reader, c *Config) error {
	us, err := r.count(r.key, 0, maxTime*1e6)
	if err != nil {
		return err
	}
	a, err := r.count(r.key, 0, maxNodes-1)
	if err != nil {
		return err
	}
	b, err := r.count(r.key, 0, maxNodes-1)
	if err != nil {
		return err
	}
	c.LinkDown = LinkDown{sim.Duration(us) * sim.Microsecond, int(a), int(b)}
	return nil
}
