package simnic

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rdmasim/fabric/packet"
	"rdmasim/sim"
	"rdmasim/verbs"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what dialogues say instead of comparing")

// Dialogues are scripts in testdata: steps, then "----", then what is seen on
// the wire and in the completion queues because of them. README.txt there says
// which steps there are.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, f := range files {
		if filepath.Base(f) == "README.txt" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			got := play(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(f, []byte(got), 0o666))
			}
			require.Equal(t, string(text), got)
			for _, w := range strings.Fields(got) {
				seen[w] = true
			}
		})
	}
	for s := verbs.StatusSuccess; s <= verbs.StatusTagMatchingIncomplete; s++ {
		require.True(t, seen[s.String()], "no dialogue produces %v", s)
	}
}

// dialogue is a script that is being played: two queue pairs, a and b.
type dialogue struct {
	*lab
	side [2]party
	out  []string
	drop map[string]int // packets to lose, by direction and opcode
	prev *packet.Packet
	run  uint32 // packets of one kind seen in a row
}

// party is one end.
type party struct {
	ctx    verbs.Context
	pd     verbs.ProtectionDomain
	cq     verbs.CompletionQueue
	qp     verbs.QueuePair
	mr, ro verbs.MemoryRegion
	srq    verbs.SharedReceiveQueue
	mw     verbs.MemoryWindow
}

// play runs a script and returns it with what was seen.
func play(t *testing.T, text string) string {
	var b strings.Builder
	blocks := strings.Split(strings.TrimRight(text, "\n"), "\n\n")
	first := args(strings.Split(blocks[0], "\n"))
	inLab(t, 2, func(c *Config) { configure(t, c, first) }, func(l *lab) {
		d := &dialogue{lab: l, drop: map[string]int{}}
		l.wire.see = d.see
		for i, block := range blocks {
			if i > 0 {
				b.WriteByte('\n')
			}
			steps, _, _ := strings.Cut(block+"\n", "----\n")
			d.out = d.out[:0]
			for _, line := range strings.Split(strings.TrimRight(steps, "\n"), "\n") {
				b.WriteString(line + "\n")
				if f := strings.Fields(line); len(f) > 0 && f[0][0] != '#' {
					d.step(f[0], f[1:])
				}
			}
			d.flush()
			d.poll()
			if len(d.out) > 0 || strings.Contains(block, "\n----") {
				b.WriteString("----\n" + strings.Join(d.out, "\n") + "\n")
			}
		}
	})
	return b.String()
}

// args collects the words of the line that begins with "nic".
func args(lines []string) []string {
	for _, l := range lines {
		if f := strings.Fields(l); len(f) > 0 && f[0] == "nic" {
			return f[1:]
		}
	}
	return nil
}

func configure(t *testing.T, c *Config, words []string) {
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "recovery":
			c.GoBack0 = v == "go_back_0"
			if v == "selective_repeat" {
				c.IRN = &IRN{BDP: 64 << 10, RTOLow: IRNTimeoutLow, RTOHigh: IRNTimeoutHigh, Few: IRNFew}
			}
		case "ack_every":
			c.AckEvery = number(t, v)
		case "policy":
			c.TimeoutPolicy = map[string]TimeoutPolicy{"exact": TimeoutExact, "jitter": TimeoutJitter, "adaptive": TimeoutAdaptive}[v]
		default:
			t.Fatalf("nic: unknown word %q", w)
		}
	}
}

func number(t testing.TB, s string) int {
	n, err := strconv.ParseInt(s, 0, 64)
	require.NoError(t, err)
	return int(n)
}

// step carries out one line.
func (d *dialogue) step(verb string, words []string) {
	opt := map[string]int{}
	var name []string
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok && verb != "run" && verb != "fail" && verb != "nic" {
			opt[k] = number(d.t, v)
		} else {
			name = append(name, w)
		}
	}
	get := func(k string, def int) int {
		if v, ok := opt[k]; ok {
			return v
		}
		return def
	}
	switch verb {
	case "nic":
	case "connect":
		d.connect(name[0], get)
	case "post":
		d.post(&d.side[d.who(name[0])], name[1:], get)
	case "recv":
		p := &d.side[d.who(name[0])]
		r := verbs.RecvRequest{WRID: uint64(get("id", 0)), SGList: []verbs.SGE{{Addr: p.mr.Addr() + uint64(get("at", 32768)), Length: uint32(get("len", 1024)), LKey: p.mr.LKey() + uint32(get("badkey", 0))}}}
		var err error
		if p.srq != nil {
			_, err = p.srq.PostRecv(r)
		} else {
			_, err = p.qp.PostRecv(r)
		}
		d.say(err)
	case "drop":
		d.drop[name[0]+" "+name[1]] += get("n", 1)
	case "inject":
		d.inject(name[0], name[1], get)
	case "modify":
		d.modify(name, get)
	case "fail":
		p := &d.side[d.who(name[0])]
		for s := verbs.StatusSuccess; s <= verbs.StatusTagMatchingIncomplete; s++ {
			if s.String() == name[1] {
				d.say(Fail(p.qp, s))
			}
		}
	case "run":
		span, err := sim.ParseDuration(words[0])
		require.NoError(d.t, err)
		d.sleep(span)
	case "state":
		d.flush()
		d.out = append(d.out, fmt.Sprintf("a %v, b %v", d.side[0].qp.State(), d.side[1].qp.State()))
	case "time":
		d.flush()
		d.out = append(d.out, fmt.Sprintf("timeouts %d %d", d.nics[0].stat.timeouts, d.nics[1].stat.timeouts))
	case "value":
		p := &d.side[d.who(name[0])]
		d.out = append(d.out, fmt.Sprintf("%s[%d] = %d", name[0], get("at", 0), p.mr.Bytes()[get("at", 0)]))
	case "set":
		d.side[d.who(name[0])].mr.Bytes()[get("at", 0)] = byte(get("to", 0))
	default:
		d.t.Fatalf("unknown step %q", verb)
	}
}

func (d *dialogue) who(s string) int { return int(s[0] - 'a') }

func (d *dialogue) say(err error) {
	if err != nil {
		d.flush()
		d.out = append(d.out, "error: "+err.Error())
	}
}

// connect makes the two queue pairs and takes them to RTS.
func (d *dialogue) connect(service string, get func(string, int) int) {
	s := map[string]verbs.Service{"RC": verbs.RC, "UC": verbs.UC, "UD": verbs.UD}[service]
	all := verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic
	for i := range d.side {
		p := &d.side[i]
		p.ctx = d.open(i)
		var err error
		p.pd, err = p.ctx.AllocPD()
		require.NoError(d.t, err)
		p.cq, err = p.ctx.CreateCQ(get("cq", 256), nil)
		require.NoError(d.t, err)
		p.mr, err = p.pd.RegisterMemory(verbs.MRParams{Length: 64 << 10, Access: all | verbs.MWBind})
		require.NoError(d.t, err)
		p.mw, err = p.pd.AllocMW()
		require.NoError(d.t, err)
		p.ro, err = p.pd.RegisterMemory(verbs.MRParams{Length: 4096})
		require.NoError(d.t, err)
		if get("srq", 0) > 0 {
			p.srq, err = p.pd.CreateSRQ(verbs.SRQParams{WR: get("srq", 0), SGE: 1})
			require.NoError(d.t, err)
		}
		p.qp, err = p.pd.CreateQP(verbs.QPParams{Service: s, SendCQ: p.cq, RecvCQ: p.cq, SRQ: p.srq, Capacity: verbs.Capacity{SendWR: get("depth", 16), RecvWR: 16, SendSGE: 2, RecvSGE: 2, Inline: 64}})
		require.NoError(d.t, err)
	}
	for i := range d.side {
		gid, err := d.side[1-i].ctx.QueryGID(1, 0)
		require.NoError(d.t, err)
		mine, theirs := "a", "b"
		if i == 1 {
			mine, theirs = "b", "a"
		}
		ready(d.t, d.side[i].qp, verbs.QPAttr{Access: all, Port: 1, AH: verbs.AHAttr{DGID: gid, Port: 1}, DestQPN: d.side[1-i].qp.QPN(), PathMTU: verbs.MTUOf(sim.Bytes(get("mtu_"+mine, 1024))),
			RQPSN: uint32(get("psn_"+theirs, 0)), SQPSN: uint32(get("psn_"+mine, 0)), MaxDestRDAtomic: uint8(get("dest", 4)), MaxRDAtomic: uint8(get("rd", 4)),
			MinRNRTimer: uint8(get("rnr_timer", 1)), RNRRetry: uint8(get("rnr", 2)), RetryCount: uint8(get("retry", 3)), Timeout: uint8(get("timeout", 5)), QKey: 0x1234})
	}
}

// ready takes a queue pair from RESET to RTS.
func ready(t testing.TB, q verbs.QueuePair, a verbs.QPAttr) {
	for _, s := range []verbs.State{verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
		need, _, ok := verbs.Masks(q.Service(), q.State(), s)
		require.True(t, ok)
		a.State = s
		require.NoError(t, q.Modify(a, need))
	}
}

func (d *dialogue) post(p *party, words []string, get func(string, int) int) {
	other := &d.side[0]
	if p == other {
		other = &d.side[1]
	}
	var op verbs.Opcode
	for op = verbs.OpWrite; op <= verbs.OpLocalInv && op.String() != words[0]; op++ {
	}
	length := get("len", 8)
	w := verbs.WorkRequest{WRID: uint64(get("id", 0)), Opcode: op, Signaled: get("unsignaled", 0) == 0, Fence: get("fence", 0) > 0, Inline: get("inline", 0) > 0, Imm: uint32(get("imm", 0)),
		InvalidateKey: other.mr.RKey(), RemoteAddr: other.mr.Addr() + uint64(get("raddr", 0)), RKey: other.mr.RKey() + uint32(get("badrkey", 0)),
		CompareAdd: uint64(get("compare", get("add", 0))), Swap: uint64(get("swap", 0)),
		SGList: []verbs.SGE{{Addr: p.mr.Addr() + uint64(get("at", 0)), Length: uint32(length), LKey: p.mr.LKey() + uint32(get("badkey", 0))}}}
	if get("readonly", 0) > 0 {
		w.SGList[0].Addr, w.SGList[0].LKey = p.ro.Addr(), p.ro.LKey()
	}
	if get("window", 0) > 0 {
		w.RKey, w.InvalidateKey = other.mw.RKey(), other.mw.RKey()
	}
	if op.IsLocal() {
		w.SGList, w.InvalidateKey = nil, p.mw.RKey()+uint32(get("badkey", 0))
		w.Bind = verbs.WindowBind{MW: p.mw, MR: p.mr, RKey: verbs.NextRKey(p.mw.RKey()) + uint32(get("badkey", 0)), Addr: p.mr.Addr() + uint64(get("at", 0)), Length: uint64(length),
			Access: verbs.Access(get("rights", int(verbs.RemoteRead|verbs.RemoteWrite|verbs.RemoteAtomic)))}
		if get("readonly", 0) > 0 {
			w.Bind.MR, w.Bind.Addr = p.ro, p.ro.Addr()
		}
	}
	if get("noaccess", 0) > 0 {
		w.RemoteAddr, w.RKey = other.ro.Addr(), other.ro.RKey()
	}
	if p.qp.Service() == verbs.UD && get("noah", 0) == 0 {
		gid, _ := other.ctx.QueryGID(1, 0)
		pd := p.pd
		if get("otherpd", 0) > 0 {
			pd, _ = p.ctx.AllocPD()
		}
		ah, err := pd.CreateAH(verbs.AHAttr{DGID: gid, Port: 1})
		require.NoError(d.t, err)
		w.AH, w.RemoteQPN, w.RemoteQKey = ah, other.qp.QPN(), uint32(get("qkey", 0x1234))
	}
	_, err := p.qp.PostSend(w)
	d.say(err)
}

func (d *dialogue) modify(name []string, get func(string, int) int) {
	q := d.side[d.who(name[0])].qp
	for s := verbs.StateReset; s <= verbs.StateError; s++ {
		if s.String() == name[1] {
			mask := verbs.AttrState
			if get("notify", 0) > 0 {
				mask |= verbs.AttrSQDNotify
			}
			d.say(q.Modify(verbs.QPAttr{State: s}, mask))
		}
	}
}

// wireName returns a packet's operation as captures name it.
func wireName(m *packet.Packet) string {
	service := map[uint8]string{packet.ServiceRC: "", packet.ServiceUC: "UC_", packet.ServiceUD: "UD_"}[m.Service()]
	op := verbs.Opcode(m.Op())
	place := "MIDDLE"
	switch m.Flags & (packet.FlagFirst | packet.FlagLast) {
	case packet.FlagFirst:
		place = "FIRST"
	case packet.FlagLast:
		place = "LAST"
	case packet.FlagFirst | packet.FlagLast:
		place = "ONLY"
	}
	switch {
	case m.Kind == packet.Ack && m.IsResponse():
		return "ATOMIC_ACK"
	case m.Kind == packet.Ack:
		return "ACK"
	case m.Kind == packet.Nak:
		switch s := m.Ext & packet.SyndromeMask; s {
		case packet.SyndromeSequence:
			return "NAK_SEQUENCE"
		case packet.SyndromeInvalid:
			return "NAK_INVALID"
		case packet.SyndromeAccess:
			return "NAK_ACCESS"
		case packet.SyndromeOperation:
			return "NAK_OPERATION"
		default:
			return fmt.Sprintf("RNR_NAK_%d", s&31)
		}
	case m.Kind == packet.CNP:
		return "CNP"
	case op == verbs.OpRead && m.IsResponse():
		return "READ_RESPONSE_" + place
	case op == verbs.OpRead:
		return fmt.Sprintf("READ_REQUEST(%d)", m.Ext)
	case op.IsAtomic():
		return op.String()
	case op.IsSend():
		name := service + "SEND_" + place
		if op != verbs.OpSend && m.Flags&packet.FlagLast != 0 {
			name += strings.TrimPrefix(op.String(), "SEND")
		}
		return name
	}
	name := service + "WRITE_" + place
	if op == verbs.OpWriteImm && m.Flags&packet.FlagLast != 0 {
		name += "_WITH_IMM"
	}
	return name
}

// see logs a frame, runs of like packets in one line, and loses what the
// script wants lost.
func (d *dialogue) see(m *packet.Packet) bool {
	key := [2]string{"a>b ", "b>a "}[m.Src] + wireName(m)
	if d.drop[key] > 0 {
		d.drop[key]--
		d.flush()
		d.out = append(d.out, fmt.Sprintf("%s psn=%d LOST", key, m.PSN))
		return false
	}
	if p := d.prev; p != nil && (m.Kind == packet.Data || m.IsResponse()) && p.Src == m.Src && wireName(p) == wireName(m) && p.Payload == m.Payload && m.PSN == (p.PSN+d.run)&psnMask {
		d.run++
		return true
	}
	d.flush()
	c := *m
	d.prev, d.run = &c, 1
	return true
}

// flush ends a run of like packets.
func (d *dialogue) flush() {
	p := d.prev
	if p == nil {
		return
	}
	d.prev = nil
	line := fmt.Sprintf("%s %s psn=%d", [2]string{"a>b", "b>a"}[p.Src], wireName(p), p.PSN)
	if d.run > 1 {
		line += fmt.Sprintf("..%d", (p.PSN+d.run-1)&psnMask)
	}
	switch p.Kind {
	case packet.Data:
		if p.Op() != uint8(verbs.OpRead) || p.IsResponse() {
			line += fmt.Sprintf(" payload=%d", p.Payload)
		}
	case packet.Ack, packet.Nak:
		if !p.IsResponse() {
			line += fmt.Sprintf(" msn=%d", p.Aux)
		}
	}
	d.out = append(d.out, line)
}

// poll lists completions and events.
func (d *dialogue) poll() {
	for i := range d.side {
		p := &d.side[i]
		if p.cq == nil {
			continue
		}
		wc := make([]verbs.WorkCompletion, 64)
		k, err := p.cq.Poll(wc)
		d.say(err)
		for _, c := range wc[:k] {
			line := fmt.Sprintf("%c: id=%d %v", 'a'+rune(i), c.WRID, c.Status)
			if c.Status == verbs.StatusSuccess {
				line += fmt.Sprintf(" %v len=%d", c.Opcode, int(c.Length))
				if c.HasImm {
					line += fmt.Sprintf(" imm=%d", c.Imm)
				}
			}
			if c.Recv {
				line += " recv"
			}
			d.out = append(d.out, line)
		}
		for {
			e, ok := p.ctx.AsyncEvent()
			if !ok {
				break
			}
			d.out = append(d.out, fmt.Sprintf("%c: %v", 'a'+rune(i), e.Kind))
		}
	}
}

// inject puts a made-up packet on the wire.
func (d *dialogue) inject(way, name string, get func(string, int) int) {
	from, to := d.who(way[:1]), d.who(way[2:])
	src, dst := d.side[from].qp, d.side[to].qp
	m := packet.Packet{Src: int32(from), Dst: int32(to), SrcQP: src.QPN(), DstQP: dst.QPN(), PSN: uint32(get("psn", 0)), Size: 66, Payload: uint16(get("payload", 0)), TTL: 64}
	switch name {
	case "READ_RESPONSE":
		m.Opcode, m.Flags = uint8(verbs.OpRead)|packet.OpResponse, packet.FlagFirst|packet.FlagLast
	case "ATOMIC_ACK":
		m.Kind, m.Opcode = packet.Ack, uint8(verbs.OpFetchAdd)|packet.OpResponse
	case "ACK":
		m.Kind, m.Ext = packet.Ack, packet.SyndromeAck
	case "NAK_OPERATION":
		m.Kind, m.Ext = packet.Nak, packet.SyndromeOperation
	case "WRITE_MIDDLE":
		m.Size = 62 + m.Payload
	default:
		d.t.Fatalf("inject: unknown packet %q", name)
	}
	m.Aux = d.nics[from].load(cargo{data: make([]byte, m.Payload)})
	d.see(&m)
	d.wire.send(&m)
}
