package switchconf

import (
	"fmt"
	"strconv"
	"strings"

	"rdmasim/sim"
)

func (d *sonicWriter) pools() error {
	for _, p := range d.sw.Pools {
		if err := checkSONiCName("buffer pool", p.Name); err != nil {
			return err
		}
		x := d.entry(p.Name)
		given(&x, "type", p.Type, word[Direction])
		given(&x, "mode", p.Mode, word[PoolMode])
		given(&x, "size", p.Size, bytesText)
		given(&x, "xoff", p.Xoff, bytesText)
		given(&x, "percentage", p.Percentage, d.percentText(-1))
		d.add("BUFFER_POOL", x, false)
	}
	return nil
}

func (d *sonicWriter) profiles() error {
	for _, p := range d.sw.Profiles {
		if p.From.Kind == Computed && !d.all {
			continue // the switch makes it
		}
		if err := checkSONiCName("buffer profile", p.Name); err != nil {
			return err
		}
		x := d.entry(p.Name)
		given(&x, "pool", p.Pool, word[string])
		given(&x, "size", p.Size, bytesText)
		given(&x, "xon", p.Xon, bytesText)
		given(&x, "xon_offset", p.XonOffset, bytesText)
		given(&x, "xoff", p.Xoff, bytesText)
		given(&x, "dynamic_th", p.DynamicTh, strconv.Itoa)
		given(&x, "static_th", p.StaticTh, bytesText)
		given(&x, "headroom_type", p.HeadroomType, word[string])
		given(&x, "packet_discard_action", p.Discard, word[string])
		d.add("BUFFER_PROFILE", x, false)
	}
	return nil
}

func (d *sonicWriter) wred() error {
	for _, w := range d.sw.WRED {
		if err := checkSONiCName("WRED profile", w.Name); err != nil {
			return err
		}
		x := d.entry(w.Name)
		given(&x, "ecn", w.ECN, word[ECNMode])
		for c, k := range w.Colours {
			n := Colour(c).String()
			if k.Min.IsGiven() && k.Max.IsGiven() && k.Min.V > k.Max.V {
				return fmt.Errorf("WRED profile %s: min %d is above max %d", w.Name, k.Min.V, k.Max.V)
			}
			given(&x, "wred_"+n+"_enable", k.Enable, strconv.FormatBool)
			given(&x, n+"_min_threshold", k.Min, bytesText)
			given(&x, n+"_max_threshold", k.Max, bytesText)
			given(&x, n+"_drop_probability", k.Probability, d.percentText(-1))
		}
		d.add("WRED_PROFILE", x, true)
	}
	return nil
}

func (d *sonicWriter) maps() error {
	for _, t := range sonicMaps {
		for _, m := range *t.at(d.sw) {
			if err := checkSONiCName("map", m.Name); err != nil {
				return err
			}
			x := d.entry(m.Name)
			for _, e := range m.Entries {
				x.fields = append(x.fields, sonicField{strconv.Itoa(e.Key), strconv.Itoa(e.To), e.From.Path})
			}
			d.add(t.table, x, true)
		}
	}
	return nil
}

func (d *sonicWriter) schedulers() error {
	rate := func(r sim.Rate) string { return strconv.FormatInt(int64(r)/8, 10) }
	weight := func(n int) string {
		if n > 100 {
			d.r.rounded(-1, FieldWeight, strconv.Itoa(n), "100", "SONiC takes weights of 1 to 100")
		}
		return strconv.Itoa(min(n, 100))
	}
	for _, s := range d.sw.Schedulers {
		if err := checkSONiCName("scheduler", s.Name); err != nil {
			return err
		}
		x := d.entry(s.Name)
		given(&x, "type", s.Type, word[SchedulerType])
		given(&x, "weight", s.Weight, weight)
		given(&x, "cir", s.Min, rate)
		given(&x, "pir", s.Max, rate)
		given(&x, "cbs", s.MinBurst, bytesText)
		given(&x, "pbs", s.MaxBurst, bytesText)
		given(&x, "meter_type", s.MeterType, word[string])
		d.add("SCHEDULER", x, true)
	}
	return nil
}

// device writes what is no port's: only tables about queues and buffers. The
// platform is what it is.
func (d *sonicWriter) device() error {
	x := d.entry("AZURE")
	given(&x, "mtu", d.sw.Lossless.MTU, bytesText)
	given(&x, "small_packet_percentage", d.sw.Lossless.SmallPackets, d.percentText(-1))
	d.add("LOSSLESS_TRAFFIC_PATTERN", x, false)
	x = d.entry("AZURE")
	given(&x, "default_dynamic_th", d.sw.Lossless.DefaultDynamicTh, strconv.Itoa)
	given(&x, "over_subscribe_ratio", d.sw.Lossless.OverSubscribe, strconv.Itoa)
	d.add("DEFAULT_LOSSLESS_BUFFER_PARAMETER", x, false)
	return nil
}

// ports writes what is bound to ports.
func (d *sonicWriter) ports() error {
	cables := d.entry("AZURE")
	for i := range d.sw.Ports {
		p := &d.sw.Ports[i]
		if err := checkSONiCName("port", strings.ReplaceAll(p.Name, "|", "")); err != nil {
			return err
		}
		given(&cables, p.Name, p.Cable, d.metres)
	}
	d.add("CABLE_LENGTH", cables, false)
	for i := range d.sw.Ports {
		d.port(&d.sw.Ports[i])
	}
	return nil
}

// metres writes whole metres, rounded up: headroom must not be short.
func (d *sonicWriter) metres(l sim.Length) string {
	n := (l + sim.Metre - 1) / sim.Metre
	if n*sim.Metre != l {
		d.r.rounded(-1, FieldCable, l.String(), (n * sim.Metre).String(), "SONiC takes whole metres")
	}
	return fmt.Sprintf("%dm", n)
}

func (d *sonicWriter) port(p *Port) {
	for _, g := range p.PGs {
		if g.From.Kind == Computed && !d.all {
			continue // the switch binds it
		}
		x := d.entry(fmt.Sprintf("%s|%d", p.Name, g.Index))
		given(&x, "profile", g.Profile, func(s string) string {
			if g.Auto && !d.all {
				return "NULL"
			}
			return s
		})
		d.add("BUFFER_PG", x, false)
	}
	for _, q := range p.Queues {
		x := d.entry(fmt.Sprintf("%s|%d", p.Name, q.Index))
		given(&x, "profile", q.Profile, word[string])
		d.add("BUFFER_QUEUE", x, false)
		x = d.entry(x.key)
		given(&x, "scheduler", q.Scheduler, word[string])
		given(&x, "wred_profile", q.WRED, word[string])
		d.add("QUEUE", x, false)
	}
	list := func(names []string) string { return strings.Join(names, ",") }
	x := d.entry(p.Name)
	given(&x, "profile_list", p.IngressProfiles, list)
	d.add("BUFFER_PORT_INGRESS_PROFILE_LIST", x, false)
	x = d.entry(p.Name)
	given(&x, "profile_list", p.EgressProfiles, list)
	d.add("BUFFER_PORT_EGRESS_PROFILE_LIST", x, false)
	x = d.entry(p.Name)
	given(&x, "pfc_enable", p.PFCEnable, listText)
	given(&x, "pfcwd_sw_enable", p.WatchdogEnable, listText)
	for _, m := range []struct {
		name string
		v    Value[string]
	}{{"dscp_to_tc_map", p.DSCPToTC}, {"dot1p_to_tc_map", p.PCPToTC}, {"tc_to_queue_map", p.TCToQueue}, {"tc_to_pg_map", p.TCToPG}, {"pfc_to_queue_map", p.PFCToQueue},
		{"pfc_to_pg_map", p.PFCToPG}, {"tc_to_dscp_map", p.TCToDSCP}, {"scheduler", p.Scheduler}} {
		given(&x, m.name, m.v, word[string])
	}
	d.add("PORT_QOS_MAP", x, false)
	x = d.entry(p.Name)
	given(&x, "action", p.Watchdog.Action, word[WatchdogAction])
	given(&x, "detection_time", p.Watchdog.Detection, d.msText(100, 5000))
	given(&x, "restoration_time", p.Watchdog.Restoration, d.msText(100, 60000))
	given(&x, "pfc_stat_history", p.Watchdog.History, enable)
	d.add("PFC_WD", x, false)
}

func enable(on bool) string {
	if on {
		return "enable"
	}
	return "disable"
}

// rest writes what ports share.
func (d *sonicWriter) rest() error {
	x := d.entry("GLOBAL")
	given(&x, "POLL_INTERVAL", d.sw.Watchdog.Poll, d.msText(100, 1000))
	given(&x, "BIG_RED_SWITCH", d.sw.Watchdog.BigRedSwitch, enable)
	d.add("PFC_WD", x, false)
	x = d.entry("global")
	given(&x, "dscp_to_tc_map", d.sw.GlobalDSCPToTC, word[string])
	d.add("PORT_QOS_MAP", x, false)
	return nil
}
