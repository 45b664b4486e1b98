package netem

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Counters are totals by name.
type Counters map[string]int64

// Sub returns what was counted since an earlier reading; a counter that went
// down was reset and counts from 0.
func (c Counters) Sub(before Counters) Counters {
	d := Counters{}
	for k, v := range c {
		d[k] = v - before[k]
		if v < before[k] {
			d[k] = v
		}
	}
	return d
}

// HardwareCounters reads a port's counters and hw_counters.
func HardwareCounters(root, device string, port int) (Counters, error) {
	c := Counters{}
	base := filepath.Join(root, "sys/class/infiniband", device, "ports", strconv.Itoa(port))
	for _, sub := range []string{"counters", "hw_counters"} {
		files, err := os.ReadDir(filepath.Join(base, sub))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if n, err := strconv.ParseInt(value(filepath.Join(base, sub), f.Name()), 10, 64); err == nil && f.Name() != "lifespan" {
				c[f.Name()] = n
			}
		}
	}
	if len(c) == 0 {
		return nil, fmt.Errorf("%w: %s port %d has no counters", ErrNotSupported, device, port)
	}
	return c, nil
}

// Qdisc is what "tc -s -j qdisc show" says of one queue.
type Qdisc struct {
	Kind       string `json:"kind"`
	Handle     string `json:"handle"`
	Parent     string `json:"parent"`
	Root       bool   `json:"root"`
	Bytes      int64  `json:"bytes"`
	Packets    int64  `json:"packets"`
	Drops      int64  `json:"drops"` // of netem: losses and what it marked with ecn
	Overlimits int64  `json:"overlimits"`
	Requeues   int64  `json:"requeues"`
	Backlog    int64  `json:"backlog"`
}

// Qdiscs reads the queues of an interface.
func Qdiscs(ctx context.Context, r Runner, dev string) ([]Qdisc, error) {
	if err := checkInterface(dev); err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, Command{"tc", "-s", "-j", "qdisc", "show", "dev", dev})
	if err != nil {
		return nil, err
	}
	return parseQdiscs([]byte(out))
}

func parseQdiscs(b []byte) ([]Qdisc, error) {
	var q []Qdisc
	if err := json.Unmarshal(b, &q); err != nil {
		return nil, fmt.Errorf("tc -s -j qdisc show: %w", err)
	}
	return q, nil
}

// Injected returns what the impairment of Impair on an interface has seen and
// dropped so far.
func Injected(q []Qdisc) (packets, dropped int64, ok bool) {
	for i := range q {
		if q[i].Kind == "netem" && (q[i].Handle == "4792:" || q[i].Handle == "4791:") {
			return q[i].Packets + q[i].Drops, q[i].Drops, true
		}
	}
	return 0, 0, false
}

// RuleHits returns how many packets the rules of a table have acted on.
func RuleHits(ctx context.Context, r Runner, table string) (int64, error) {
	out, err := r.Run(ctx, Command{"nft", "-j", "list", "table", "netdev", table})
	if err != nil {
		return 0, err
	}
	return parseRuleHits([]byte(out))
}

func parseRuleHits(b []byte) (int64, error) {
	var doc struct {
		NFTables []struct {
			Rule *struct {
				Expr []struct {
					Counter *struct {
						Packets int64 `json:"packets"`
					} `json:"counter"`
				} `json:"expr"`
			} `json:"rule"`
		} `json:"nftables"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return 0, fmt.Errorf("nft -j list table: %w", err)
	}
	var n int64
	for _, o := range doc.NFTables {
		if o.Rule == nil {
			continue
		}
		for _, e := range o.Rule.Expr {
			if e.Counter != nil {
				n += e.Counter.Packets
			}
		}
	}
	return n, nil
}
