package fabric

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
)

// randomFrame fills every field of a frame; frames of one flow differ where the
// frames of a flow differ, and seldom elsewhere.
func randomFrame(r *rand.Rand, flows int) packet.Packet {
	fill := func(r *rand.Rand) (m packet.Packet) {
		v := reflect.ValueOf(&m).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.CanUint() {
				f.SetUint(r.Uint64() >> (64 - f.Type().Bits()))
			} else {
				f.SetInt(int64(r.Uint64()) >> (64 - f.Type().Bits()))
			}
		}
		return m
	}
	m, own := fill(rand.New(rand.NewPCG(7, uint64(r.IntN(flows))))), fill(r)
	m.Sent, m.PSN, m.ECN, m.TTL, m.Flags = own.Sent, own.PSN, own.ECN, own.TTL, own.Flags
	if r.IntN(50) == 0 {
		m.Size, m.Payload, m.Aux, m.Ext = own.Size, own.Payload, own.Aux, own.Ext
	}
	return m
}

// Queues that share a pool give back what was put in, in order and bit by bit,
// whether of few flows or of many, and all memory returns to the pool.
func TestFifosOfOnePool(t *testing.T) {
	for i, flows := range []int{1, 3, commons, 100, 3} {
		var pool chunkPool
		others := 0 // pieces of other queues
		if i < 4 {
			others = plenty
		}
		pool.whole.used = others
		queues := make([]fifo, 4)
		twins := make([][]packet.Packet, len(queues))
		r := rand.New(rand.NewPCG(3, uint64(flows)))
		for step := range 60_000 {
			i := r.IntN(len(queues))
			grow := 6
			if step > 25_000 {
				grow = 3 // of 10: the queues empty again
			}
			if r.IntN(10) < grow {
				m := randomFrame(r, flows)
				queues[i].push(&pool, &m)
				twins[i] = append(twins[i], m)
			} else if len(twins[i]) > 0 {
				m := queues[i].front()
				require.Equal(t, twins[i][0], *m)
				queues[i].pop(&pool)
				require.Equal(t, twins[i][0], *m, "holds until the next push")
				twins[i] = twins[i][1:]
			}
			require.Equal(t, len(twins[i]) == 0, queues[i].empty())
			if step%500 == 0 {
				var seen []packet.Packet
				queues[i].each(func(m *packet.Packet) bool { seen = append(seen, *m); return len(seen) < 700 })
				require.Equal(t, len(seen), min(len(twins[i]), 700))
				for j := range seen {
					require.Equal(t, twins[i][j], seen[j])
				}
			}
		}
		for i := range queues {
			for !queues[i].empty() {
				queues[i].pop(&pool)
			}
		}
		require.Equal(t, others, pool.whole.used)
		require.Zero(t, pool.cells.used)
		require.Zero(t, pool.long.used)
	}
}

// A long queue of few flows takes 24 bytes per frame.
func TestLongQueueIsPacked(t *testing.T) {
	var pool chunkPool
	pool.whole.used = plenty // by other queues
	var q fifo
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		m := randomFrame(r, 4)
		m.Size, m.Payload, m.Aux, m.Ext = 1100, 1024, 0, 0
		q.push(&pool, &m)
	}
	require.Equal(t, wholeChunks, pool.whole.used-plenty)
	require.LessOrEqual(t, pool.cells.used, 10_000/chunkCells+1)
}

// A burst leaves little behind.
func TestPoolLetsGoAfterABurst(t *testing.T) {
	var s stock[chunk]
	var held []*chunk
	for range 4 * spare {
		held = append(held, s.take())
	}
	for _, c := range held {
		s.give(c)
	}
	require.Zero(t, s.used)
	require.Less(t, len(s.free), 3*spare)
	n := len(s.free)
	s.take()
	require.Len(t, s.free, n-1, "a spare piece is used again")
}
