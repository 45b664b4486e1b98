package validation

import (
	"fmt"
	"strings"

	"rdmasim/verbs"
)

var _ = register("V1", Row{
	Title: "states, attribute masks, statuses and flush order of queue pairs",
	Hard:  true,
	Explain: `Statuses of work completions have the order and names of ibv_wc_status, states those of ibv_qp_state.
Each step of a queue pair to RTS takes the attributes that ibv_modify_qp(3) lists, and is refused without one of them; of the 49
pairs of states those are steps that the state diagram has, and every state leads to RESET and to ERROR.
What goes wrong on two connected queue pairs ends with the status of its cause, on the side that learns of it.
After a failure everything is flushed in the order of posting: the first request ends with the reason, the others with
WR_FLUSH, signalled or not, then the receives.
Source: infiniband/verbs.h of rdma-core, ibv_modify_qp(3), InfiniBand Architecture volume 1, 10.3.1 and 10.8.3.`,
	Measure: func(b *Bench) error {
		for _, c := range []struct {
			status verbs.Status
			number int
			name   string
		}{{verbs.StatusSuccess, 0, "SUCCESS"}, {verbs.StatusLocalLength, 1, "LOC_LEN_ERR"}, {verbs.StatusLocalQPOperation, 2, "LOC_QP_OP_ERR"}, {verbs.StatusLocalEECOperation, 3, "LOC_EEC_OP_ERR"},
			{verbs.StatusLocalProtection, 4, "LOC_PROT_ERR"}, {verbs.StatusWRFlush, 5, "WR_FLUSH_ERR"}, {verbs.StatusMWBind, 6, "MW_BIND_ERR"}, {verbs.StatusBadResponse, 7, "BAD_RESP_ERR"},
			{verbs.StatusLocalAccess, 8, "LOC_ACCESS_ERR"}, {verbs.StatusRemoteInvalidRequest, 9, "REM_INV_REQ_ERR"}, {verbs.StatusRemoteAccess, 10, "REM_ACCESS_ERR"},
			{verbs.StatusRemoteOperation, 11, "REM_OP_ERR"}, {verbs.StatusRetryExceeded, 12, "RETRY_EXC_ERR"}, {verbs.StatusRNRRetryExceeded, 13, "RNR_RETRY_EXC_ERR"}, {verbs.StatusGeneral, 21, "GENERAL_ERR"}} {
			b.Exact(fmt.Sprintf("status %d", c.number), fmt.Sprint(c.number, " IBV_WC_", c.name), fmt.Sprint(int(c.status), " ", c.status), "verbs.h")
		}
		b.Exact("states RESET INIT RTR RTS SQD SQE ERR", []int{0, 1, 2, 3, 4, 5, 6},
			[]int{int(verbs.StateReset), int(verbs.StateInit), int(verbs.StateRTR), int(verbs.StateRTS), int(verbs.StateSQD), int(verbs.StateSQE), int(verbs.StateError)}, "verbs.h")
		for _, part := range []func(*Bench) error{measureTransitions, measureMasks, measureCauses, measureFlush} {
			if err := part(b); err != nil {
				return err
			}
		}
		return nil
	},
})

// minimumMasks are those of ibv_modify_qp(3), for the steps to INIT, RTR and RTS.
var minimumMasks = []struct {
	service verbs.Service
	masks   [3]string
}{
	{verbs.RC, [3]string{"STATE|ACCESS_FLAGS|PKEY_INDEX|PORT", "STATE|AV|PATH_MTU|RQ_PSN|MIN_RNR_TIMER|MAX_DEST_RD_ATOMIC|DEST_QPN", "STATE|TIMEOUT|RETRY_CNT|RNR_RETRY|MAX_QP_RD_ATOMIC|SQ_PSN"}},
	{verbs.UC, [3]string{"STATE|ACCESS_FLAGS|PKEY_INDEX|PORT", "STATE|AV|PATH_MTU|RQ_PSN|DEST_QPN", "STATE|SQ_PSN"}},
	{verbs.UD, [3]string{"STATE|PKEY_INDEX|PORT|QKEY", "STATE", "STATE|SQ_PSN"}},
}

func measureMasks(b *Bench) error {
	attr := verbs.QPAttr{Port: 1, PathMTU: verbs.MTU1024}
	for _, c := range minimumMasks {
		for i, text := range c.masks {
			from, to := verbs.StateReset+verbs.State(i), verbs.StateInit+verbs.State(i)
			mask, err := verbs.ParseAttrMask(text)
			if err != nil {
				return err
			}
			attr.State = to
			refused, bits := 0, 0
			for bit := verbs.AttrMask(1); bit <= verbs.AttrDestQPN; bit <<= 1 {
				if mask&bit != 0 && bit != verbs.AttrState {
					bits++
					if verbs.CheckModify(c.service, from, &attr, mask&^bit) != nil {
						refused++
					}
				}
			}
			what := fmt.Sprintf("%v, %v to %v", c.service, from, to)
			b.Exact(what+": "+text, "taken", map[bool]string{true: "taken", false: "refused"}[verbs.CheckModify(c.service, from, &attr, mask) == nil], "ibv_modify_qp(3)")
			b.Exact(what+": refused without one of them", bits, refused, "ibv_modify_qp(3)")
		}
	}
	return nil
}

// stateSteps are the steps between states beside those to RESET and ERROR.
// Source: InfiniBand Architecture volume 1, figure 124 (state diagram) and table 91.
var stateSteps = map[verbs.Service]string{
	verbs.RC: "RESET>INIT INIT>INIT INIT>RTR RTR>RTS RTS>RTS RTS>SQD SQD>RTS SQD>SQD",
	verbs.UC: "RESET>INIT INIT>INIT INIT>RTR RTR>RTS RTS>RTS RTS>SQD SQD>RTS SQD>SQD SQE>RTS",
	verbs.UD: "RESET>INIT INIT>INIT INIT>RTR RTR>RTS RTS>RTS RTS>SQD SQD>RTS SQD>SQD SQE>RTS",
}

func measureTransitions(b *Bench) error {
	for _, s := range []verbs.Service{verbs.RC, verbs.UC, verbs.UD} {
		var steps []string
		always := 0
		for from := verbs.StateReset; from <= verbs.StateError; from++ {
			for to := verbs.StateReset; to <= verbs.StateError; to++ {
				_, _, ok := verbs.Masks(s, from, to)
				switch {
				case ok && (to == verbs.StateReset || to == verbs.StateError):
					always++
				case ok:
					steps = append(steps, stateName(from)+">"+stateName(to))
				}
			}
		}
		b.Exact(fmt.Sprintf("%v: steps between states", s), stateSteps[s], strings.Join(steps, " "), "IBA table 91")
		b.Exact(fmt.Sprintf("%v: states that lead to RESET and to ERROR", s), "7 and 7", fmt.Sprintf("%d and %d", always/2, always-always/2), "IBA table 91")
	}
	return nil
}

// stateName is that of ibv_qp_state without its prefix.
func stateName(s verbs.State) string { return strings.TrimPrefix(fmt.Sprint(s), "IBV_QPS_") }

// causes are what can go wrong on a reliable connection, and what each side's
// first completion says then; "-" where there is none.
var causes = []struct {
	what          string
	sender, other string
	set           func(*direct)
	first, second func(*pair) error
}{
	{"a SEND that fits", "SUCCESS", "SUCCESS", nil, sendOf(100), func(p *pair) error { return p.receive(1, 100, p.mine.LKey()) }},
	{"a SEND into too small a receive", "REM_INV_REQ_ERR", "LOC_LEN_ERR", nil, sendOf(100), func(p *pair) error { return p.receive(1, 99, p.mine.LKey()) }},
	{"a SEND of 3 packets into one of 2", "REM_INV_REQ_ERR", "LOC_LEN_ERR", nil, sendOf(3000), func(p *pair) error { return p.receive(1, 2048, p.mine.LKey()) }},
	{"a receive with an lkey of nobody", "REM_OP_ERR", "LOC_PROT_ERR", nil, sendOf(100), func(p *pair) error { return p.receive(1, 100, 0xdead) }},
	{"a SEND with an lkey of nobody", "LOC_PROT_ERR", "-", nil, func(p *pair) error {
		p.ask.SGList[0].LKey = 0xdead
		return p.post(verbs.OpSend, 0, 100)
	}, func(p *pair) error { return p.receive(1, 100, p.mine.LKey()) }},
	{"a WRITE with an rkey of nobody", "REM_ACCESS_ERR", "-", nil, func(p *pair) error {
		p.ask.RKey = 0xdead
		return p.post(verbs.OpWrite, 0, 100)
	}, nil},
	{"a WRITE beyond the end of a region", "REM_ACCESS_ERR", "-", nil, func(p *pair) error {
		p.ask.RemoteAddr += 1<<16 - 99
		return p.post(verbs.OpWrite, 0, 100)
	}, nil},
	{"a WRITE up to the end of a region", "SUCCESS", "-", nil, func(p *pair) error {
		p.ask.RemoteAddr += 1<<16 - 100
		return p.post(verbs.OpWrite, 0, 100)
	}, nil},
	{"a WRITE that the region does not allow", "REM_ACCESS_ERR", "-", func(d *direct) { d.peer = verbs.LocalWrite | verbs.RemoteRead }, func(p *pair) error { return p.post(verbs.OpWrite, 0, 100) }, nil},
	{"a READ that the region does not allow", "REM_ACCESS_ERR", "-", func(d *direct) { d.peer = verbs.LocalWrite | verbs.RemoteWrite }, func(p *pair) error { return p.post(verbs.OpRead, 0, 100) }, nil},
	{"a SEND for which nobody is ready", "RNR_RETRY_EXC_ERR", "-", nil, sendOf(100), nil},
	{"a SEND that nobody hears", "RETRY_EXC_ERR", "-", func(d *direct) { d.deaf = true }, sendOf(100), nil},
}

func sendOf(length uint32) func(*pair) error {
	return func(p *pair) error { return p.post(verbs.OpSend, 0, length) }
}

func measureCauses(b *Bench) error {
	for _, c := range causes {
		d := newDirect(1024)
		if c.set != nil {
			c.set(d)
		}
		if err := d.run(c.first, c.second); err != nil {
			return err
		}
		found := [2]string{"-", "-"}
		for i, list := range d.statuses {
			if len(list) > 0 {
				found[i] = list[0]
			}
		}
		if c.other == "-" && found[1] == "WR_FLUSH_ERR" {
			found[1] = "-" // a receive that was waiting
		}
		b.Exact(c.what+": sender, receiver", c.sender+", "+c.other, found[0]+", "+found[1], "IBA 10.10.2, 11.6.2")
	}
	return nil
}

func measureFlush(b *Bench) error {
	for _, c := range []struct{ sends, receives int }{{3, 2}, {1, 0}, {7, 5}, {2, 8}} {
		d := newDirect(1024)
		d.deaf = true
		err := d.run(func(p *pair) error {
			for id := range c.receives {
				if err := p.receive(uint64(100+id), 64, p.mine.LKey()); err != nil {
					return err
				}
			}
			for id := range c.sends {
				if err := p.post(verbs.OpWrite, uint64(id), 8); err != nil {
					return err
				}
			}
			return nil
		}, nil)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%d sends, %d receives, peer does not answer: ", c.sends, c.receives)
		b.Exact(what+"number of completions", c.sends+c.receives, len(d.ids[0]), "IBA 10.8.3")
		b.Alike(what+"ids and statuses", c.sends+c.receives, func(i int) (want, got any) {
			got = fmt.Sprint(nth(d.ids[0], i), " ", nth(d.statuses[0], i))
			switch {
			case i == 0:
				return "0 RETRY_EXC_ERR", got
			case i < c.sends:
				return fmt.Sprint(i, " WR_FLUSH_ERR"), got
			}
			return fmt.Sprint(100+i-c.sends, " WR_FLUSH_ERR"), got
		}, "IBA 10.8.3")
	}
	return nil
}
