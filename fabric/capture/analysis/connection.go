package analysis

import (
	"net/netip"

	"rdmasim/fabric/capture"
	"rdmasim/sim"
)

// Connections that are made by connection management tell which two queue pairs
// belong together and with which PSN each begins.

// conn is a connection that a capture saw being asked for.
type conn struct {
	client, server netip.Addr
	local, remote  uint32 // communication IDs of client and server
	service        uint64
	qpn, psn       [2]uint32 // of client and server
	known          [2]bool
	mtu            int
	iface          int // where it was seen first
	requests       uint64
	asked          sim.Time
	madeAt, endAt  sim.Time
	made, ended    bool
	rejected       bool
	reason         uint16
}

// connKey names a connection by the side that asked for it.
type connKey struct {
	client, server netip.Addr
	local          uint32
}

// knownPair is what a connection tells of a stream before its first packet.
type knownPair struct {
	reverse streamKey
	psn     uint32 // of the first request
	mtu     int
}

// management follows a message of connection management.
func (a *Analyzer) management(f *capture.Frame, iface int, damaged bool) {
	c, ok := f.CM()
	if !ok || damaged {
		return
	}
	from, to := f.Src, f.Dst
	switch c.Kind {
	case capture.CMReq:
		a.requested(&c, from, to, iface)
	case capture.CMRep:
		if k := a.conns[connKey{to, from, c.Remote}]; k != nil {
			k.remote = c.Local
			k.qpn[1], k.psn[1], k.known[1] = c.QPN, c.PSN, true
			a.know(k)
		}
	case capture.CMRej:
		if k := a.either(from, to, &c); k != nil && !k.made {
			k.rejected, k.reason, k.endAt, k.ended = true, c.Reason, a.now, true
		}
	case capture.CMRtu:
		if k := a.conns[connKey{from, to, c.Local}]; k != nil && !k.made {
			k.made, k.madeAt = true, a.now
		}
	case capture.CMDreq:
		if k := a.either(from, to, &c); k != nil && !k.ended {
			k.ended, k.endAt = true, a.now
		}
	}
}

// either returns the connection of a message that either side may send.
func (a *Analyzer) either(from, to netip.Addr, c *capture.CM) *conn {
	if k := a.conns[connKey{from, to, c.Local}]; k != nil {
		return k
	}
	return a.conns[connKey{to, from, c.Remote}]
}

// requested follows a REQ.
func (a *Analyzer) requested(c *capture.CM, from, to netip.Addr, iface int) {
	key := connKey{from, to, c.Local}
	k := a.conns[key]
	if k == nil || k.ended {
		if len(a.connList) >= MaxConnections {
			a.connsLeft++
			return
		}
		k = &conn{client: from, server: to, local: c.Local, service: c.Service, iface: iface, asked: a.now}
		if c.PathMTU >= 1 && c.PathMTU <= 5 {
			k.mtu = 128 << c.PathMTU
		}
		k.qpn[0], k.psn[0], k.known[0] = c.QPN, c.PSN, true
		a.conns[key] = k
		a.connList = append(a.connList, k)
	}
	if iface == k.iface {
		k.requests++
	}
}

// know keeps what a connection tells of the streams that will come.
func (a *Analyzer) know(k *conn) {
	there := streamKey{k.client, k.server, k.qpn[1]}
	back := streamKey{k.server, k.client, k.qpn[0]}
	if len(a.pairs) >= 2*MaxConnections {
		return
	}
	a.pairs[there] = knownPair{back, k.psn[0], k.mtu}
	a.pairs[back] = knownPair{there, k.psn[1], k.mtu}
}

// meet joins a stream to the other direction of its connection, if that was seen
// being made.
func (a *Analyzer) meet(s *stream) {
	k, ok := a.pairs[s.key]
	if !ok {
		return
	}
	if r := a.byKey[k.reverse]; r != nil && r != s && r.reverse == nil && len(r.views) > 0 {
		join(s, r)
	}
}

// begin sets where the numbers of a stream begin, if its connection told that:
// what is missing before the first packet is a gap like any other.
func (a *Analyzer) begin(s *stream, v *view, psn uint32) {
	k, ok := a.pairs[s.key]
	if !ok || capture.PSNDelta(psn, k.psn) < 0 || capture.PSNDelta(psn, k.psn) >= jump {
		return
	}
	n := base + uint64(k.psn)
	v.requests = sequence{begun: true, start: n, next: n, holes: v.requests.holes[:0]}
	v.got.begun, v.got.next = true, n
}

// Connection is a connection that the capture saw being made, or not.
type Connection struct {
	Client    string   `json:"client"`
	Server    string   `json:"server"`
	Service   uint64   `json:"service"`
	ClientQPN uint32   `json:"client_qpn"`
	ClientPSN uint32   `json:"client_psn"`
	ServerQPN *uint32  `json:"server_qpn"` // null: nobody replied
	ServerPSN *uint32  `json:"server_psn"`
	PathMTU   int      `json:"path_mtu"`
	State     string   `json:"state"` // asked, replied, made, closed or rejected
	Reason    uint16   `json:"reject_reason,omitempty"`
	Requests  uint64   `json:"requests"` // REQs, repeated ones included
	Asked     float64  `json:"asked_s"`
	Setup     *float64 `json:"setup_s"` // from the first REQ to the RTU
}

func (k *conn) summary() Connection {
	c := Connection{Client: hostName(k.client), Server: hostName(k.server), Service: k.service, ClientQPN: k.qpn[0], ClientPSN: k.psn[0],
		PathMTU: k.mtu, State: "asked", Reason: k.reason, Requests: k.requests, Asked: k.asked.Seconds()}
	if k.known[1] {
		c.ServerQPN, c.ServerPSN = &k.qpn[1], &k.psn[1]
		c.State = "replied"
	}
	if k.made {
		d := k.madeAt.Sub(k.asked).Seconds()
		c.Setup, c.State = &d, "made"
	}
	switch {
	case k.rejected:
		c.State = "rejected"
	case k.ended:
		c.State = "closed"
	}
	return c
}
