package netem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Optional says which counters beside those of sysfs a port has: counters that cost
// something and are switched on one by one, and counters per queue pair. Only
// "rdma statistic" shows them (rdma-statistic(8); Linux 5.16 and 5.3).
type Optional struct {
	Supported []string // of the driver
	On        []string // that are counting
	PerQP     string   // of the counters per queue pair, such as "auto off", "auto type on"; "" = the driver has none
}

// ReadOptional asks the rdma command for the optional counters of a port.
func ReadOptional(ctx context.Context, r Runner, device string, port int) (o Optional, err error) {
	if err := checkInterface(device); err != nil {
		return o, err
	}
	link := device + "/" + strconv.Itoa(port)
	out, err := r.Run(ctx, Command{"rdma", "statistic", "mode", "supported", "link", link})
	if err != nil {
		return o, fmt.Errorf("%w: the rdma command shows no optional counters: %w", ErrNotSupported, err)
	}
	o.Supported = parseOptional(out)
	if out, err = r.Run(ctx, Command{"rdma", "statistic", "mode", "link", link}); err == nil {
		o.On = parseOptional(out)
	}
	if out, err = r.Run(ctx, Command{"rdma", "statistic", "qp", "mode", "link", link}); err == nil {
		o.PerQP = parseQPMode(out)
	}
	return o, nil
}

var counterName = regexp.MustCompile(`^[A-Za-z0-9_.]{1,64}$`)

// parseOptional reads "link mlx5_0/1 supported optional-counters a,b". The JSON of
// iproute2 is not used: versions of it do not close their objects.
func parseOptional(text string) (list []string) {
	for _, line := range strings.Split(text, "\n") {
		_, names, ok := strings.Cut(line, "optional-counters ")
		if !ok {
			continue
		}
		for _, n := range strings.FieldsFunc(names, func(c rune) bool { return c == ',' || c == ' ' }) {
			if counterName.MatchString(n) && len(list) < maxCounters {
				list = append(list, n)
			}
		}
	}
	return list
}

// parseQPMode reads "link mlx5_0/1 mode qp auto type on".
func parseQPMode(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	_, mode, ok := strings.Cut(line, "mode qp ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(mode)
}

// Counts reports whether there is anything to be read.
func (o *Optional) Counts() bool { return len(o.On) > 0 || o.PerQPOn() }

// PerQPOn reports whether queue pairs are counted.
func (o *Optional) PerQPOn() bool { return strings.Contains(o.PerQP, " on") }

// SwitchOn returns the changes that make a port count all that it can, by type of
// queue pair, and what makes it count again what it counted before.
func (o *Optional) SwitchOn(device string, port int) (c []Change) {
	link := device + "/" + strconv.Itoa(port)
	if len(o.Supported) > len(o.On) {
		undo := Command{"rdma", "statistic", "unset", "link", link, "optional-counters"}
		if len(o.On) > 0 {
			undo = Command{"rdma", "statistic", "set", "link", link, "optional-counters", strings.Join(o.On, ",")}
		}
		c = append(c, Change{What: "optional counters of " + link, Undo: undo,
			Do: Command{"rdma", "statistic", "set", "link", link, "optional-counters", strings.Join(o.Supported, ",")}})
	}
	if o.PerQP != "" && !o.PerQPOn() {
		c = append(c, Change{What: "counters per type of queue pair of " + link, Do: Command{"rdma", "statistic", "qp", "set", "link", link, "auto", "type", "on"},
			Undo: Command{"rdma", "statistic", "qp", "set", "link", link, "auto", "off"}})
	}
	return c
}

// Read returns what the optional counters and those of queue pairs say; the latter
// begin with "qp_" and the type of queue pair, and are added up for each type.
func (o *Optional) Read(ctx context.Context, r Runner, device string, port int) (Counters, error) {
	c := Counters{}
	if len(o.On) > 0 {
		all, err := RDMAStatistic(ctx, r, device, port)
		if err != nil {
			return nil, err
		}
		for _, name := range o.On {
			if n, ok := all[name]; ok {
				c[name] = n
			}
		}
	}
	if o.PerQPOn() {
		out, err := r.Run(ctx, Command{"rdma", "-j", "statistic", "qp", "show", "link", device + "/" + strconv.Itoa(port)})
		if err != nil {
			return nil, err
		}
		if err := parseQPCounters([]byte(out), c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// qpNumbers are fields of a counter of queue pairs that count nothing.
var qpNumbers = []string{"ifindex", "port", "cntn", "pid"}

// parseQPCounters adds what "rdma -j statistic qp show" prints.
func parseQPCounters(b []byte, c Counters) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	var list []map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&list); err != nil {
		return fmt.Errorf("rdma -j statistic qp show: %w", err)
	}
	for _, q := range list {
		kind := "any"
		for _, key := range []string{"qp-type", "type"} {
			if s, ok := q[key].(string); ok && counterName.MatchString(s) {
				kind = s
			}
		}
		for k, v := range q {
			n, ok := v.(json.Number)
			if !ok || slices.Contains(qpNumbers, k) || !counterName.MatchString(k) {
				continue
			}
			if i, ok := wholeNumber(n.String()); ok && len(c) < maxCounters {
				c["qp_"+kind+"_"+k] += i
			}
		}
	}
	return nil
}
