package analysis

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
	"rdmasim/sim/simtest"
	"rdmasim/sim/trace"
)

// referenceDir holds captures of Soft-RoCE, where they are at hand.
const referenceDir = "../../../../shared/reference/data/pcap"

// analyse reads captures into a run directory.
func analyse(t *testing.T, o Options, files ...string) (*Summary, *trace.Run) {
	t.Helper()
	var sources []capture.Source
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		sources = append(sources, capture.Source{Name: filepath.Base(name), In: f})
	}
	m, err := capture.Merge(sources)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	sum, dir, err := Run(context.Background(), m, RunConfig{Options: o, Dir: dir, Name: "capture"})
	require.NoError(t, err)
	run, err := trace.Open(dir)
	require.NoError(t, err)
	require.NoError(t, run.Verify())
	return sum, run
}

// expected is what one direction of a queue pair must show.
type expected struct {
	src                  string
	qpn, srcQPN          uint32 // srcQPN 0: no answers, so that nothing tells it
	service              string
	verb                 string
	messages, completed  uint64
	bytes                uint64
	packets              uint64
	again, duplicates    uint64
	missing              uint64
	acks, naks, rnrs     uint64
	responses            uint64
	byNak, byRNR, byTime uint64
}

// What the six captures show. The counts of packets, PSNs, ACKs and NAKs are
// those of tshark, which the test asks as well where it is there.
var references = map[string][]expected{
	"rc_send.pcap":  {{src: "10.1.0.1", qpn: 0x15, srcQPN: 0x17, service: "RC", verb: "SEND", messages: 2, completed: 2, bytes: 8000, packets: 8, acks: 2}},
	"rc_write.pcap": {{src: "10.1.0.1", qpn: 0x13, srcQPN: 0x15, service: "RC", verb: "WRITE", messages: 2, completed: 2, bytes: 8000, packets: 8, acks: 2}},
	"rc_read.pcap":  {{src: "10.1.0.1", qpn: 0x14, srcQPN: 0x16, service: "RC", verb: "READ", messages: 2, completed: 2, bytes: 8000, packets: 2, responses: 8}},
	// One SEND of 512 B: four times the receiver is not ready. Two ACKs, since the
	// last retransmission crosses the ACK of the one before.
	"rc_rnr.pcap": {{src: "10.1.0.1", qpn: 0x18, srcQPN: 0x1a, service: "RC", verb: "SEND", messages: 1, completed: 1, bytes: 512, packets: 6, again: 5, duplicates: 5, acks: 2, rnrs: 4, byRNR: 3}},
	// Three WRITEs of 8000 B; of 25 packets that were sent again three had been lost
	// in front of the capture.
	"rc_write_loss_small.pcap": {{src: "10.1.0.1", qpn: 0x16, srcQPN: 0x16, service: "RC", verb: "WRITE", messages: 3, completed: 3, bytes: 24000, packets: 46, again: 25, duplicates: 22, missing: 3, acks: 8, naks: 4, byNak: 2, byTime: 6}},
	"uc_pingpong.pcap": {
		{src: "10.1.0.2", qpn: 0x1f, service: "UC", verb: "SEND", messages: 3, completed: 3, bytes: 12288, packets: 12},
		{src: "10.1.0.1", qpn: 0x1d, service: "UC", verb: "SEND", messages: 3, completed: 3, bytes: 12288, packets: 12},
	},
}

func TestReferenceCaptures(t *testing.T) {
	if _, err := os.Stat(referenceDir); err != nil {
		t.Skip("reference data absent")
	}
	for name, want := range references {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(referenceDir, name)
			sum, run := analyse(t, Options{}, file)
			assert.Equal(t, trace.ModeCapture, run.Manifest.Mode)
			assert.Equal(t, sum.Frames.Total, sum.Frames.RoCEv2)
			assert.Equal(t, sum.Frames.Total, sum.ICRC.Valid)
			for _, c := range sum.Checks {
				assert.Zero(t, c.Violations, "%s: %v", c.Name, c.Examples)
			}
			require.Len(t, sum.QPs, len(want))
			for i := range want {
				assert.Equal(t, want[i], show(&sum.QPs[i]))
			}
			if !testing.Short() {
				askTshark(t, file, sum)
			}
		})
	}
}

func show(q *QP) expected {
	e := expected{src: q.Src, qpn: q.QPN, service: q.Service, messages: q.Messages, completed: q.Completed, bytes: q.Bytes, packets: q.Sent, again: q.Again,
		duplicates: q.Duplicates, missing: q.Missing, acks: q.Acks, naks: q.Naks, rnrs: q.RNRs, responses: q.Responses, byNak: q.ByNak, byRNR: q.ByRNR, byTime: q.ByTimeout}
	if q.SrcQPN != nil {
		e.srcQPN = *q.SrcQPN
	}
	for v := range q.Operations {
		e.verb += v
	}
	return e
}

// askTshark counts the packets of a capture by tshark's dissection.
func askTshark(t *testing.T, file string, sum *Summary) {
	var data, again, duplicates, acks, naks, rnrs, responses uint64
	highest, seen := map[string]uint64{}, map[string]bool{}
	for _, line := range simtest.Tshark(t, file, "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.psn", "-e", "infiniband.aeth.syndrome", "-e", "ip.src") {
		f := strings.Split(line, "\t")
		require.Len(t, f, 5)
		op, err := strconv.ParseUint(f[0], 10, 8)
		require.NoError(t, err)
		psn, err := strconv.ParseUint(f[2], 10, 24)
		require.NoError(t, err)
		switch op &= 0x1f; {
		case op == 17 && f[3] == "96":
			naks++
		case op == 17 && f[3] >= "32" && f[3] < "64":
			rnrs++
		case op == 17:
			acks++
		case op >= 13 && op <= 16:
			responses++
		default:
			data++
			k := f[4] + f[1]
			if top, ok := highest[k]; ok && psn <= top {
				again++
			} else {
				highest[k] = psn
			}
			if seen[k+f[2]] {
				duplicates++
			}
			seen[k+f[2]] = true
		}
	}
	var q QP
	for i := range sum.QPs {
		x := &sum.QPs[i]
		q.Sent, q.Again, q.Duplicates = q.Sent+x.Sent, q.Again+x.Again, q.Duplicates+x.Duplicates
		q.Acks, q.Naks, q.RNRs, q.Responses = q.Acks+x.Acks, q.Naks+x.Naks, q.RNRs+x.RNRs, q.Responses+x.Responses
	}
	assert.Equal(t, []uint64{data, again, duplicates, acks, naks, rnrs, responses}, []uint64{q.Sent, q.Again, q.Duplicates, q.Acks, q.Naks, q.RNRs, q.Responses},
		"data, sent again, duplicates, ACK, NAK, RNR NAK, READ responses by tshark")
}
