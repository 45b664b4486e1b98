// Package ecmp holds hash functions by which switches choose among equal-cost
// next hops. It imports nothing.
package ecmp

// Hash is the ECMP hash of the HPCC ns-3 model: MurmurHash3 x86_32 (Appleby,
// public domain) over the twelve bytes sip, dip, sport | dport<<16 as native
// 32-bit words. The next hop is the hash modulo the number of next hops; the
// seed of a switch is its node id.
func Hash(sip, dip uint32, sport, dport uint16, seed uint32) uint32 {
	h := murmurRound(seed, sip)
	h = murmurRound(h, dip)
	h = murmurRound(h, uint32(sport)|uint32(dport)<<16)
	return murmurFinish(h ^ 12)
}

// murmurRound mixes one word of the key into h.
func murmurRound(h, k uint32) uint32 {
	k *= 0xcc9e2d51
	k = k<<15 | k>>17
	k *= 0x1b873593
	h ^= k
	h = h<<13 | h>>19
	return h + h<<2 + 0xe6546b64
}

// murmurFinish spreads every bit of h over all others.
func murmurFinish(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
