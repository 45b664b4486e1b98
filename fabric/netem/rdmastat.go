package netem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// RDMAStatistic reads what "rdma -j statistic show link DEV/PORT" prints: the
// hw_counters of a port with those that are optional and switched on.
func RDMAStatistic(ctx context.Context, r Runner, device string, port int) (Counters, error) {
	if err := checkInterface(device); err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, Command{"rdma", "-j", "statistic", "show", "link", device + "/" + strconv.Itoa(port)})
	if err != nil {
		return nil, err
	}
	return ParseRDMAStatistic([]byte(out))
}

// ParseRDMAStatistic reads the JSON of "rdma -j statistic show"; several ports
// are added up.
func ParseRDMAStatistic(b []byte) (Counters, error) {
	c := Counters{}
	if len(bytes.TrimSpace(b)) == 0 {
		return c, nil
	}
	var ports []map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&ports); err != nil {
		return nil, fmt.Errorf("rdma -j statistic show: %w", err)
	}
	for _, p := range ports {
		for k, v := range p {
			n, ok := v.(json.Number)
			if !ok || k == "ifindex" || k == "port" {
				continue
			}
			if i, ok := wholeNumber(n.String()); ok && len(c) < maxCounters {
				c[k] += i
			}
		}
	}
	return c, nil
}
