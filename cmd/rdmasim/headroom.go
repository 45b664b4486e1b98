package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rdmasim/fabric"
	"rdmasim/fabric/switchconf"
	"rdmasim/scenarios"
	"rdmasim/sim"
)

// headroomFlags are the flags of `rdmasim headroom`, as text.
type headroomFlags struct {
	asic, speed, cable, mtu, losslessMTU string
	rule, small, gearbox, peer           string
	lanes                                int
	shared, asJSON                       bool
}

const headroomLong = `Compute the headroom of a lossless priority group: the bytes that may arrive at
a port after it has sent XOFF. The formula of the vendor is shown term by term,
with its units and where each number comes from; where the vendor has shipped a
table, the row is shown beside it.

  --rule static   what the shipped tables hold: every packet may be a small one
  --rule dynamic  what SONiC's dynamic buffer model computes on the switch

ASICs:
`

func newHeadroom(a *app) *cobra.Command {
	f := &headroomFlags{}
	names, docs := switchconf.HeadroomASICs()
	long := headroomLong
	for i := range names {
		long += fmt.Sprintf("\n  %-8s %s", names[i], docs[i])
	}
	cmd := &cobra.Command{
		Use:   "headroom --asic ASIC --speed RATE --cable LENGTH",
		Short: "Compute the PFC headroom of a switch port, term by term",
		Long:  long,
		Example: `  rdmasim headroom --asic spc4 --speed 400G --cable 40m --mtu 9216
  rdmasim headroom --asic spc4 --speed 400G --cable 40m --rule dynamic --small-packets 20%
  rdmasim headroom --asic th5 --speed 800G --cable 120m --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.headroom(f) },
	}
	cmd.Flags().StringVar(&f.asic, "asic", "", "the switch `ASIC`: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&f.speed, "speed", "", "`RATE` of the port, such as 400G")
	cmd.Flags().StringVar(&f.cable, "cable", "", "`LENGTH` of the cable, such as 40m")
	cmd.Flags().StringVar(&f.mtu, "mtu", "", "largest frame of the port in `BYTES`, default 9216")
	cmd.Flags().StringVar(&f.losslessMTU, "lossless-mtu", "", "largest frame of the lossless class in `BYTES`, default 1024")
	cmd.Flags().StringVar(&f.rule, "rule", string(switchconf.StaticHeadroom), "`RULE`: static or dynamic")
	cmd.Flags().StringVar(&f.small, "small-packets", "", "`SHARE` of packets of 64 bytes, default 100% (static) or 50% (dynamic)")
	cmd.Flags().StringVar(&f.gearbox, "gearbox", "", "`DELAY` of a gearbox between ASIC and port, such as 400ns")
	cmd.Flags().StringVar(&f.peer, "peer", "", "`BYTES` that arrive until the peer obeys, default by ASIC and speed")
	cmd.Flags().IntVar(&f.lanes, "lanes", 0, "`N` lanes of the port; 0 = 8 at the highest speed of the ASIC")
	cmd.Flags().BoolVar(&f.shared, "shared-pool", false, "headroom comes out of a pool that ports share")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("asic", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("rule", cobra.FixedCompletions([]string{"static", "dynamic"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// headroom is `rdmasim headroom`.
func (a *app) headroom(f *headroomFlags) error {
	q, err := f.query()
	if err != nil {
		return inputError(fmt.Errorf("headroom: %w", err))
	}
	h, err := switchconf.ComputeHeadroom(q)
	if err != nil {
		return inputError(fmt.Errorf("headroom: %w", err))
	}
	others := otherHeadrooms(q, h)
	if f.asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		return e.Encode(headroomOf(h, others))
	}
	return writeHeadroom(a.stdout, h, others)
}

// query reads the flags.
func (f *headroomFlags) query() (q switchconf.HeadroomQuery, err error) {
	names, _ := switchconf.HeadroomASICs()
	if f.asic == "" {
		return q, fmt.Errorf("--asic is missing: want one of %s", strings.Join(names, ", "))
	}
	q.ASIC, q.Rule, q.Lanes, q.SharedPool = f.asic, switchconf.HeadroomRule(f.rule), f.lanes, f.shared
	for _, p := range []struct {
		flag, text, example string
		read                func(string) error
	}{
		{"speed", f.speed, "400G", func(s string) (err error) { q.Speed, err = sim.ParseRate(s); return }},
		{"cable", f.cable, "40m", func(s string) (err error) { q.Cable, err = sim.ParseLength(s); return }},
		{"mtu", f.mtu, "", func(s string) (err error) { q.MTU, err = positiveBytes(s); return }},
		{"lossless-mtu", f.losslessMTU, "", func(s string) (err error) { q.LosslessMTU, err = positiveBytes(s); return }},
		{"peer", f.peer, "", func(s string) (err error) { q.Peer, err = positiveBytes(s); return }},
		{"gearbox", f.gearbox, "", func(s string) (err error) { q.Gearbox, err = sim.ParseDuration(s); return }},
		{"small-packets", f.small, "", func(s string) (err error) {
			r, err := sim.ParseRatio(s)
			q.SmallPackets = &r
			return err
		}},
	} {
		switch {
		case p.text == "" && p.example != "":
			return q, fmt.Errorf("--%s is missing: want for example --%s %s", p.flag, p.flag, p.example)
		case p.text == "":
			continue
		}
		if err := p.read(p.text); err != nil {
			return q, fmt.Errorf("--%s: %w", p.flag, err)
		}
	}
	return q, nil
}

// positiveBytes reads a size; a bare number, as switches take it, is in bytes.
func positiveBytes(s string) (sim.Bytes, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		b, err := sim.ParseBytes(s)
		if err != nil {
			return 0, err
		}
		n = int64(b)
	}
	if n <= 0 {
		return 0, fmt.Errorf("%q: want a size above 0, such as 9216 or 9KiB", s)
	}
	return sim.Bytes(n), nil
}

// otherHeadroom is another answer to the same question.
type otherHeadroom struct {
	What string
	Xoff sim.Bytes
	Why  string
}

// headroomJSON is a result as JSON: rates in bit/s, sizes in bytes, lengths in
// metres, as numbers.
type headroomJSON struct {
	ASIC      string                    `json:"asic"`
	Name      string                    `json:"asic_name"`
	Rule      switchconf.HeadroomRule   `json:"rule"`
	Method    string                    `json:"method"`
	Speed     int64                     `json:"speed_bps"`
	Cable     float64                   `json:"cable_m"`
	MTU       int64                     `json:"mtu"`
	Cell      int64                     `json:"cell"`
	Terms     []switchconf.HeadroomTerm `json:"terms"`
	Exact     float64                   `json:"xoff_exact"`
	Xoff      int64                     `json:"xoff"`
	Cells     int64                     `json:"xoff_cells"`
	Xon       int64                     `json:"xon"`
	XonOffset int64                     `json:"xon_offset"`
	Size      int64                     `json:"size"`
	SizeHow   string                    `json:"size_is"`
	Notes     []string                  `json:"notes"`
	Others    []otherJSON               `json:"others"`
}

type otherJSON struct {
	What string `json:"what"`
	Xoff int64  `json:"xoff"`
	Why  string `json:"differs_by"`
}

func headroomOf(h *switchconf.Headroom, others []otherHeadroom) headroomJSON {
	j := headroomJSON{ASIC: h.ASIC, Name: h.Name, Rule: h.Rule, Method: h.Method, Speed: int64(h.Speed), Cable: float64(h.Cable) / float64(sim.Metre),
		MTU: int64(h.MTU), Cell: int64(h.Cell), Terms: h.Terms, Exact: h.Exact, Xoff: int64(h.Xoff), Cells: h.Cells, Xon: int64(h.Xon),
		XonOffset: int64(h.XonOffset), Size: int64(h.Size), SizeHow: h.SizeHow, Notes: h.Notes}
	for _, o := range others {
		j.Others = append(j.Others, otherJSON{o.What, int64(o.Xoff), o.Why})
	}
	return j
}

// otherHeadrooms returns what the vendor's other rule says, and what the
// simulator's switch needs.
func otherHeadrooms(q switchconf.HeadroomQuery, h *switchconf.Headroom) (list []otherHeadroom) {
	if h.Published != nil && h.Method == "formula" {
		list = append(list, otherHeadroom{"shipped table of " + h.Published.Platform, h.Published.Xoff, h.Published.Source})
	}
	if h.Method == "formula" && h.ASIC != "generic" {
		other := q
		other.SmallPackets, other.Rule = nil, switchconf.DynamicHeadroom
		what, why := "dynamic buffer model", "half of the packets are small, and peers answer by the quanta of their speed"
		if h.Rule == switchconf.DynamicHeadroom {
			other.Rule, what, why = switchconf.StaticHeadroom, "rule of the shipped tables", "every packet is a small one"
		}
		if o, err := switchconf.ComputeHeadroom(other); err == nil {
			list = append(list, otherHeadroom{what, o.Xoff, why})
		}
	}
	const overhead, pfc = 20, 64 // B: preamble and gap, a pause frame
	ideal := fabric.Headroom(h.Speed, h.Speed, 2*h.Cable.Delay(), scenarios.ResponseTime(h.Speed), h.MTU, overhead, pfc)
	return append(list, otherHeadroom{"headroom: auto of the simulator's switch", ideal,
		"three frames of the port's MTU, no cells, 5 ns/m, peers answer by the quanta of their speed; a scenario adds its pipeline latencies"})
}

// writeHeadroom prints the formula term by term.
func writeHeadroom(w io.Writer, h *switchconf.Headroom, others []otherHeadroom) error {
	fmt.Fprintf(w, "%s, %s port, %s cable, MTU %d, %s rule: %s\n\n", h.Name, h.Speed, h.Cable, h.MTU, h.Rule, h.Method)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var sources []string
	for _, x := range h.Terms {
		i := slices.Index(sources, x.Source)
		if i < 0 {
			i, sources = len(sources), append(sources, x.Source)
		}
		fmt.Fprintf(t, "%s\t%s\t[%d]\t%s\n", x.Name, strconv.FormatFloat(round(x.Value), 'f', -1, 64)+unitAfter(x.Unit), i+1, x.How)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nxoff        %d B  %s\n", h.Xoff, cellsOf(h))
	fmt.Fprintf(w, "xon         %d B\n", h.Xon)
	if h.XonOffset > 0 {
		fmt.Fprintf(w, "xon_offset  %d B\n", h.XonOffset)
	}
	fmt.Fprintf(w, "size        %d B  %s\n", h.Size, h.SizeHow)
	for _, n := range h.Notes {
		fmt.Fprintf(w, "note        %s\n", n)
	}
	fmt.Fprintf(w, "\nxoff by other rules, in bytes:\n")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, o := range others {
		fmt.Fprintf(t, "  %d\t%s\t%s\n", o.Xoff, o.What, o.Why)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nsources\n")
	for i, source := range sources {
		fmt.Fprintf(w, "  [%d] %s\n", i+1, source)
	}
	return nil
}

func unitAfter(unit string) string {
	if unit == "" {
		return ""
	}
	return " " + unit
}

// round keeps three decimals.
func round(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 3, 64), 64)
	return y
}

// cellsOf says how xoff was rounded and what it takes in cells.
func cellsOf(h *switchconf.Headroom) string {
	how := fmt.Sprintf("= %d cells of %d B", h.Cells, h.Cell)
	if h.Cell <= 1 {
		how = "no cells"
	} else if h.Xoff%h.Cell != 0 {
		how += fmt.Sprintf(" (%.2f, rounded up)", float64(h.Xoff)/float64(h.Cell))
	}
	if strings.HasPrefix(h.ASIC, "spc") {
		how += "; rounded up to 1024 B"
	}
	return how
}
