package ecmp

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowMurmur is MurmurHash3 x86_32 over any bytes, word for word from its
// definition and on integers without a size.
func slowMurmur(key []byte, seed uint32) uint32 {
	m := new(big.Int).Lsh(big.NewInt(1), 32)
	mod := func(x *big.Int) *big.Int { return x.Mod(x, m) }
	mul := func(x *big.Int, c int64) *big.Int { return mod(new(big.Int).Mul(x, big.NewInt(c))) }
	rot := func(x *big.Int, r uint) *big.Int {
		return mod(new(big.Int).Or(new(big.Int).Lsh(x, r), new(big.Int).Rsh(x, 32-r)))
	}
	scramble := func(k *big.Int) *big.Int { return mul(rot(mul(k, 0xcc9e2d51), 15), 0x1b873593) }
	little := func(b []byte) *big.Int {
		x := new(big.Int)
		for i := len(b) - 1; i >= 0; i-- {
			x.Add(x.Lsh(x, 8), big.NewInt(int64(b[i])))
		}
		return x
	}
	h, rest := new(big.Int).SetUint64(uint64(seed)), key
	for len(rest) >= 4 {
		h = rot(h.Xor(h, scramble(little(rest[:4]))), 13)
		h = mod(h.Add(mul(h, 5), big.NewInt(0xe6546b64)))
		rest = rest[4:]
	}
	h.Xor(h, scramble(little(rest)))
	h.Xor(h, big.NewInt(int64(len(key))))
	h.Xor(h, new(big.Int).Rsh(h, 16))
	h = mul(h, 0x85ebca6b)
	h.Xor(h, new(big.Int).Rsh(h, 13))
	h = mul(h, 0xc2b2ae35)
	h.Xor(h, new(big.Int).Rsh(h, 16))
	return uint32(h.Uint64())
}

// The twin itself gives the values published for the algorithm.
func TestSlowMurmurIsMurmur(t *testing.T) {
	require.Equal(t, uint32(0xba6bd213), slowMurmur([]byte("test"), 0))
	require.Equal(t, uint32(0x24884cba), slowMurmur([]byte("Hello, world!"), 0x9747b28c))
	require.Equal(t, uint32(0x2fa826cd), slowMurmur([]byte("The quick brown fox jumps over the lazy dog"), 0x9747b28c))
}

func TestHash(t *testing.T) {
	for _, c := range []struct {
		sip, dip     uint32
		sport, dport uint16
		seed, want   uint32
	}{
		{0x00000000, 0x00000000, 0, 0, 0, 0xd941144b},
		{0x0b000001, 0x0b000201, 10000, 100, 3, 0xbf0186cb},
		{0x0b000201, 0x0b000001, 100, 10000, 3, 0x894f5b4b},
		{0x0b000e01, 0x0b000b01, 10000, 100, 16, 0x299c5d7f},
		{0xffffffff, 0xffffffff, 65535, 65535, 0xffffffff, 0x906fb002},
		{0x0b013f01, 0x0b00d101, 10005, 100, 339, 0x5e463a7d},
	} {
		require.Equal(t, c.want, Hash(c.sip, c.dip, c.sport, c.dport, c.seed))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		sip, dip, sport, dport, seed := r.Uint32(), r.Uint32(), uint16(r.Uint32()), uint16(r.Uint32()), r.Uint32()
		key := binary.LittleEndian.AppendUint32(nil, sip)
		key = binary.LittleEndian.AppendUint32(key, dip)
		key = binary.LittleEndian.AppendUint16(key, sport)
		key = binary.LittleEndian.AppendUint16(key, dport)
		require.Equal(t, slowMurmur(key, seed), Hash(sip, dip, sport, dport, seed))
	}
}

func BenchmarkHash(b *testing.B) {
	b.ReportAllocs()
	s := uint32(0)
	for i := range b.N {
		s += Hash(0x0b000001, uint32(i), 10000, 100, 3)
	}
	_ = s
}
