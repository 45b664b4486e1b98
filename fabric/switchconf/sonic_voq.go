package switchconf

import (
	"slices"
	"strings"
)

// A chassis with virtual output queues has, on each line card, the queues toward
// the ports of all line cards, under names such as lc1|Asic0|Ethernet0, and the
// rest of its configuration under the names of its own ports. Source: SONiC's
// VOQ chassis, sonic-buildimage, files/build_templates/qos_config.j2.

// systemPort splits the name of a port of a chassis into the line card with its
// ASIC and the name of the port there.
func systemPort(name string) (card, port string, ok bool) {
	i := strings.LastIndexByte(name, '|')
	if i < 0 {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// lineCard makes one switch of a line card: the queues toward its own ports
// become those of these ports. The others are said to lead to other line cards,
// and left out. A file that has queues under such names alone stays as it is.
func (r *sonicReader) lineCard() {
	card := r.ownCard()
	if card == "" {
		return
	}
	all := r.sw.Ports
	r.sw.Ports, r.ports = nil, map[string]int{}
	for i := range all {
		if _, _, ok := systemPort(all[i].Name); !ok {
			r.ports[all[i].Name] = len(r.sw.Ports)
			r.sw.Ports = append(r.sw.Ports, all[i])
		}
	}
	for i := range all {
		p := &all[i]
		of, name, ok := systemPort(p.Name)
		if !ok {
			continue
		}
		if of != card {
			r.leaveOut(p, "a queue toward another line card than "+card+", whose configuration this is: which one it is says DEVICE_METADATA, hostname")
			continue
		}
		if _, known := r.ports[name]; !known && r.tables["PORT"] {
			r.leaveOut(p, "there is no port "+name+" in PORT")
			continue
		}
		own := r.port(name, p.From)
		for k := range p.Queues {
			own.take(&p.Queues[k])
		}
	}
}

// ownCard returns the line card whose configuration the files hold: that of
// DEVICE_METADATA, or else the first of which the files configure a port under
// its own name too. It is "" where there is none.
func (r *sonicReader) ownCard() string {
	first := ""
	for i := range r.sw.Ports {
		card, name, ok := systemPort(r.sw.Ports[i].Name)
		if !ok || !slices.ContainsFunc(r.sw.Ports, func(p Port) bool { return p.Name == name }) {
			continue
		}
		if host, _, _ := strings.Cut(card, "|"); r.sw.Hostname.IsSet() && strings.EqualFold(host, r.sw.Hostname.V) {
			return card
		}
		if first == "" {
			first = card
		}
	}
	return first
}

// take binds what a queue toward the port binds, where the port itself binds
// nothing.
func (p *Port) take(q *Queue) {
	own := p.Queue(q.Index)
	if own == nil {
		p.Queues = append(p.Queues, *q)
		return
	}
	for _, v := range [][2]*Value[string]{{&own.Profile, &q.Profile}, {&own.WRED, &q.WRED}, {&own.Scheduler, &q.Scheduler}} {
		if !v[0].IsSet() {
			*v[0] = *v[1]
		}
	}
}

// leaveOut notes of each field of a port that is left out why.
func (r *sonicReader) leaveOut(p *Port, why string) {
	for i := range p.Queues {
		q := &p.Queues[i]
		for _, v := range []Value[string]{q.Profile, q.WRED, q.Scheduler} {
			if k, ok := r.at[v.From]; ok && v.IsSet() {
				r.fields[k].Why = why
			}
		}
	}
}
