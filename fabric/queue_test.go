package fabric

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/fabric/packet"
)

// Queues that share a pool give back what was put in, in order, and the pool
// keeps no more than was agreed.
func TestFifosOfOnePool(t *testing.T) {
	var pool chunkPool
	queues := make([]fifo, 5)
	twins := make([][]uint32, len(queues))
	r := rand.New(rand.NewPCG(3, 4))
	psn := uint32(0)
	for step := range 400_000 {
		i := r.IntN(len(queues))
		grow := 6
		if step > 200_000 {
			grow = 2 // of 10: the queues empty again
		}
		if r.IntN(10) < grow {
			psn++
			queues[i].push(&pool, &packet.Packet{PSN: psn})
			twins[i] = append(twins[i], psn)
		} else if len(twins[i]) > 0 {
			require.Equal(t, twins[i][0], queues[i].front().PSN)
			queues[i].pop(&pool)
			twins[i] = twins[i][1:]
		}
		require.Equal(t, len(twins[i]) == 0, queues[i].empty())
	}
	chunks := 0
	for c := pool.free; c != nil; c = c.next {
		chunks++
	}
	require.Equal(t, pool.idle, chunks)
	require.LessOrEqual(t, pool.idle, pool.used+spareChunks)
}

// A burst leaves no more than the spare chunks behind.
func TestPoolLetsGoAfterABurst(t *testing.T) {
	var pool chunkPool
	var q fifo
	const frames = 4 * spareChunks * chunkFrames
	for range frames {
		q.push(&pool, &packet.Packet{})
	}
	require.Equal(t, 4*spareChunks, pool.used)
	for range frames {
		q.pop(&pool)
	}
	require.Zero(t, pool.used)
	require.LessOrEqual(t, pool.idle, 2*spareChunks+spareChunks)
	before := pool.idle
	q.push(&pool, &packet.Packet{})
	require.Equal(t, before-1, pool.idle, "a spare chunk is used again")
}
