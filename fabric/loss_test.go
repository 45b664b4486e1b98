package fabric

import (
	"testing"

	"rdmasim/fabric/packet"
	"rdmasim/sim"

	"github.com/stretchr/testify/assert"
)

// losses returns which of n frames of a kind a link loses.
func losses(l Loss, kind packet.Kind, n int) (lost []int) {
	p := NewPort(PortConfig{Loss: l})
	p.Lose(func(name string) *sim.Rand { return sim.NewRand(1, name) }, "sw0", 0)
	for i := 1; i <= n; i++ {
		if p.Loses(&packet.Packet{Kind: kind, Size: 100}) {
			lost = append(lost, i)
		}
	}
	return lost
}

func TestEveryNthDataPacketIsLost(t *testing.T) {
	assert.Equal(t, []int{4, 8, 12}, losses(Loss{Every: 4}, packet.Data, 15))
	assert.Empty(t, losses(Loss{Every: 1, Data: 1}, packet.Ack, 100), "an ACK is no data")
	assert.Empty(t, losses(Loss{Every: 1, Data: 1}, packet.PFC, 100), "a pause is no data")
	assert.Len(t, losses(Loss{All: 1}, packet.PFC, 100), 100)
	assert.Empty(t, losses(Loss{}, packet.Data, 100))
}

func TestLossHasItsProbability(t *testing.T) {
	const n, p = 200_000, 0.01
	for _, l := range []Loss{{All: p}, {Data: p}} {
		// The standard deviation is sqrt(n p) = 45 packets.
		assert.InDelta(t, n*p, len(losses(l, packet.Data, n)), 5*45, "%+v", l)
	}
}
