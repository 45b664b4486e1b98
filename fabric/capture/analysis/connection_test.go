package analysis

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/capture"
)

// cm sends a message of connection management.
func (s *story) cm(from, to netip.Addr, c capture.CM) {
	s.packet(from, to, capture.GSI, capture.OpcodeUDSendOnly, 0, capture.SizeMAD, func(p *capture.Packet) {
		p.Body = c.AppendMAD(nil)
		p.Ext.DETH = capture.DETH{QKey: capture.QKeyGSI, SrcQP: capture.GSI}
	})
}

// connect makes a connection: alice has queue pair 9, bob 7.
func (s *story) connect(psnA, psnB uint32) {
	s.cm(alice, bob, capture.CM{Kind: capture.CMReq, Local: 100, QPN: 9, PSN: psnA, PathMTU: 3, Src: alice, Dst: bob, Service: 0x1064711})
	s.cm(bob, alice, capture.CM{Kind: capture.CMRep, Local: 200, Remote: 100, QPN: 7, PSN: psnB})
	s.cm(alice, bob, capture.CM{Kind: capture.CMRtu, Local: 100, Remote: 200})
}

// A connection tells which queue pairs belong together before anything is
// answered, and that packets are missing before the first one that is seen.
func TestConnectionTellsQueuePairs(t *testing.T) {
	s := newStory(t)
	s.connect(1<<24-2, 500)
	s.write(1, 2) // PSNs ffffff, 0 and 1 belong to what the capture has not seen
	s.packet(bob, alice, 9, capture.OpcodeRCWriteOnly, 500, 64, func(p *capture.Packet) { p.SrcPort = 0xc123 })
	sum := s.read(Options{})
	require.Len(t, sum.Connections, 1)
	c := sum.Connections[0]
	require.Equal(t, "made", c.State)
	require.Equal(t, uint32(9), c.ClientQPN)
	require.Equal(t, uint32(7), *c.ServerQPN)
	require.Equal(t, uint32(1<<24-2), c.ClientPSN)
	require.Equal(t, 1024, c.PathMTU)
	require.InDelta(t, 2e-6, *c.Setup, 1e-9)
	require.Len(t, sum.QPs, 2)
	require.Equal(t, uint32(9), *sum.QPs[0].SrcQPN)
	require.Equal(t, uint32(7), *sum.QPs[1].SrcQPN)
	require.Equal(t, uint64(1), sum.QPs[0].Gaps)
	require.Equal(t, uint64(3), sum.QPs[0].Missing)
	require.Zero(t, sum.QPs[1].Gaps)
}

// Without having seen the connection, a capture begins where it begins.
func TestWithoutConnectionNothingIsMissing(t *testing.T) {
	s := newStory(t)
	s.write(1, 2)
	q := one(t, s.read(Options{}))
	require.Nil(t, q.SrcQPN)
	require.Zero(t, q.Gaps)
}

// Repeated requests count once as a connection, and rejections give their reason.
func TestConnectionStates(t *testing.T) {
	s := newStory(t)
	for range 3 {
		s.cm(alice, bob, capture.CM{Kind: capture.CMReq, Local: 1, QPN: 9, Src: alice, Dst: bob})
	}
	s.cm(alice, bob, capture.CM{Kind: capture.CMReq, Local: 2, QPN: 10, Src: alice, Dst: bob})
	s.cm(bob, alice, capture.CM{Kind: capture.CMRej, Remote: 2, Reason: 8})
	s.connect(0, 0)
	s.cm(bob, alice, capture.CM{Kind: capture.CMDreq, Local: 200, Remote: 100, QPN: 9})
	s.cm(alice, bob, capture.CM{Kind: capture.CMDrep, Local: 100, Remote: 200})
	sum := s.read(Options{})
	require.Len(t, sum.Connections, 3)
	require.Equal(t, "asked", sum.Connections[0].State)
	require.Equal(t, uint64(3), sum.Connections[0].Requests)
	require.Equal(t, "rejected", sum.Connections[1].State)
	require.Equal(t, uint16(8), sum.Connections[1].Reason)
	require.Equal(t, "closed", sum.Connections[2].State)
	require.Equal(t, uint64(10), sum.Frames.Management)
}

// An answer before any request on a connection that was seen belongs to nothing.
func TestAnswerBeforeRequest(t *testing.T) {
	s := newStory(t)
	s.connect(5, 5)
	s.packet(alice, bob, 7, capture.OpcodeAck, 4, 0)
	s.ack(5, 1)
	sum := s.read(Options{})
	require.Equal(t, uint64(2), sum.Unpaired)
	require.Empty(t, sum.QPs)
}
