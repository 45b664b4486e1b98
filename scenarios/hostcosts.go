package scenarios

import (
	"rdmasim/sim"
	"rdmasim/verbs/simnic"
)

// DefaultHost returns a host that takes no time.
func DefaultHost() HostSpec {
	return HostSpec{
		Bus:          Member{"none", simnic.NoBusParams{}},
		Contexts:     Member{"none", simnic.NoCacheParams{}},
		Translations: Member{"none", simnic.NoCacheParams{}},
		Page:         4 * sim.KiB, // of x86 and most others
		Memory:       1 * sim.GiB, // a choice: beyond what any cache of translations holds
	}
}

// costs returns what the host's software, bus and caches take.
func (h *HostSpec) costs() (c simnic.HostCosts, err error) {
	c = simnic.HostCosts{Post: h.Post, Doorbell: h.Doorbell, Poll: h.Poll, Moderation: h.Moderation, Page: h.Page, Memory: h.Memory}
	bus, err := simnic.Buses.Lookup(h.Bus.Name)
	if err != nil {
		return c, err
	}
	if c.Bus, err = bus.Build(h.Bus.Params); err != nil {
		return c, err
	}
	for _, of := range []struct {
		m  *Member
		to *simnic.Cache
	}{{&h.Contexts, &c.Contexts}, {&h.Translations, &c.Translations}} {
		e, err := simnic.Caches.Lookup(of.m.Name)
		if err != nil {
			return c, err
		}
		if *of.to, err = e.Build(of.m.Params); err != nil {
			return c, err
		}
	}
	return c, nil
}

// slows reports whether packets may have to wait in the NIC before the host has
// them.
func (h *HostSpec) slows() bool {
	return h.Bus.Name != "none" || h.Contexts.Name != "none" || h.Translations.Name != "none"
}

// checkHost checks a host whose keys stand at path.
func (s *Spec) checkHost(h *HostSpec, path string) error {
	switch {
	case h.Page < 256 || h.Page > sim.GiB || h.Page&(h.Page-1) != 0:
		return s.errorAt(path+".page", h.Page.String(), "want a power of two from 256B to 1GiB")
	case h.Memory < h.Page || h.Memory > sim.TiB:
		return s.errorAt(path+".memory", h.Memory.String(), "want at least a page, %v, and at most %v", h.Page, sim.TiB)
	}
	return nil
}

// DefaultSetup returns connections that are there when they are asked for. Times
// are those of librdmacm (cma.c: CMA_MAX_CM_RETRIES, response timeout 20).
func DefaultSetup() SetupSpec {
	return SetupSpec{Method: "none", Timeout: 4096 * sim.Nanosecond << 20, Retries: 15}
}

func (s *SetupSpec) build() *simnic.Setup {
	if s.Method == "none" {
		return nil
	}
	return &simnic.Setup{Timeout: max(s.Timeout, sim.Nanosecond), Retries: s.Retries, Accept: s.Accept}
}
