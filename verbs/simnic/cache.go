package simnic

import (
	"fmt"

	"rdmasim/sim"
)

// Cache is the memory of a NIC for what its host keeps: contexts of queue pairs
// (QPC) or translations of pages (MTT). The zero value misses nothing.
type Cache struct {
	Entries  int
	Miss     sim.Duration // until what is missing has come from the host
	Parallel int          // so many are fetched at the same time
	Random   bool         // a new entry replaces any; false: the one that was used longest ago
}

// Caches is the catalogue of what a NIC forgets first.
var Caches = sim.NewCatalogue[Cache]("NIC cache")

// NoCacheParams are those of a NIC that remembers everything.
type NoCacheParams struct{}

// CacheParams are the parameters of a cache.
type CacheParams struct {
	Entries  int          `key:"entries" range:"1..16777216" doc:"so many fit"`
	Miss     sim.Duration `key:"miss" doc:"time to fetch one from the host"`
	Parallel int          `key:"parallel" range:"1..1024" doc:"so many are fetched at the same time"`
}

// Published figures that presets have. The time of a miss is that of a read over
// PCI Express, see pcieLatency.
const (
	// The latest RNIC of 2021 held its peak up to 450 connections. Source: StaR,
	// ICNP'21, section I and figure 1, as quoted in valkey-io/valkey, pull
	// request 477.
	starContexts = 450
	// 2048 translations of 4 KB pages: 8 MB. Source: Guo et al., "RDMA over
	// Commodity Ethernet at Scale", SIGCOMM'16, section 4.4.
	guoTranslations = 2048
)

func cachePresets() map[string]CacheParams {
	return map[string]CacheParams{
		"star":     {Entries: starContexts, Miss: pcieLatency, Parallel: 1},
		"guo_2016": {Entries: guoTranslations, Miss: pcieLatency, Parallel: 1},
	}
}

func defaultCache() CacheParams { return cachePresets()["star"] }

var (
	_ = sim.Register(Caches, "none", "the NIC has all of it", NoCacheParams{}, nil, func(NoCacheParams) (Cache, error) { return Cache{}, nil })
	_ = sim.Register(Caches, "lru", "what was used longest ago is forgotten first", defaultCache(), cachePresets(), func(p CacheParams) (Cache, error) { return newCache(p, false) })
	_ = sim.Register(Caches, "random", "anything may be forgotten", defaultCache(), cachePresets(), func(p CacheParams) (Cache, error) { return newCache(p, true) })
)

func newCache(p CacheParams, random bool) (Cache, error) {
	switch {
	case p.Entries < 1 || p.Entries > 1<<24:
		return Cache{}, fmt.Errorf("entries %d: want 1 to 16777216", p.Entries)
	case p.Parallel < 1 || p.Parallel > 1024:
		return Cache{}, fmt.Errorf("parallel %d: want 1 to 1024", p.Parallel)
	case p.Miss < 0 || p.Miss > sim.Second:
		return Cache{}, fmt.Errorf("miss %v: want 0s to 1s", p.Miss)
	}
	return Cache{Entries: p.Entries, Miss: p.Miss, Parallel: p.Parallel, Random: random}, nil
}

// lookups is a cache in use: what it holds, and when its fetches are done.
type lookups struct {
	Cache
	at     map[uint64]int32 // place of a key
	places []place
	oldest int32
	newest int32
	rand   *sim.Rand
	free   sim.Time // the next fetch may begin
	hits   uint64
	misses uint64
}

// place is one entry, in the order of use.
type place struct {
	key          uint64
	older, newer int32
}

// newLookups returns an empty cache, nil if it would miss nothing.
func newLookups(c Cache, rand func() *sim.Rand) *lookups {
	if c.Entries == 0 {
		return nil
	}
	l := &lookups{Cache: c, at: map[uint64]int32{}, oldest: -1, newest: -1}
	if c.Random {
		l.rand = rand()
	}
	return l
}

// use looks a key up and returns when what it stands for is there. A miss takes
// its time; Parallel of them take it together.
func (l *lookups) use(key uint64, now sim.Time) sim.Time {
	if i, ok := l.at[key]; ok {
		l.hits++
		if !l.Random {
			l.unlink(i)
			l.link(i)
		}
		return now
	}
	l.misses++
	l.insert(key)
	begin := max(now, l.free)
	l.free = begin.Add(l.Miss / sim.Duration(l.Parallel))
	return begin.Add(l.Miss)
}

func (l *lookups) insert(key uint64) {
	var i int32
	switch {
	case len(l.places) < l.Entries:
		i = int32(len(l.places))
		l.places = append(l.places, place{})
	case l.Random:
		i = int32(l.rand.IntN(l.Entries))
		delete(l.at, l.places[i].key)
	default:
		i = l.oldest
		delete(l.at, l.places[i].key)
		l.unlink(i)
	}
	l.places[i].key = key
	l.at[key] = i
	if !l.Random {
		l.link(i)
	}
}

// unlink takes an entry out of the order of use.
func (l *lookups) unlink(i int32) {
	p := &l.places[i]
	if p.older >= 0 {
		l.places[p.older].newer = p.newer
	} else {
		l.oldest = p.newer
	}
	if p.newer >= 0 {
		l.places[p.newer].older = p.older
	} else {
		l.newest = p.older
	}
}

// link makes an entry the newest.
func (l *lookups) link(i int32) {
	p := &l.places[i]
	p.older, p.newer = l.newest, -1
	if l.newest >= 0 {
		l.places[l.newest].newer = i
	} else {
		l.oldest = i
	}
	l.newest = i
}
