package netem

import (
	"context"
	"encoding/json"
	"fmt"
)

// UserQP is a queue pair of a process.
type UserQP struct {
	Device  string `json:"ifname"`
	Number  uint32 `json:"lqpn"`
	Type    string `json:"type"`
	State   string `json:"state"`
	PID     int    `json:"pid"`
	Process string `json:"comm"`
}

// UserQPs returns the queue pairs that processes have on a device, as "rdma
// resource show qp" lists them; those of the kernel are left out.
func UserQPs(ctx context.Context, r Runner, device string) ([]UserQP, error) {
	if err := checkInterface(device); err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, Command{"rdma", "-j", "resource", "show", "qp", "link", device})
	if err != nil {
		return nil, err
	}
	return parseUserQPs([]byte(out))
}

func parseUserQPs(b []byte) (list []UserQP, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	var all []UserQP
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("rdma -j resource show qp: %w", err)
	}
	for _, q := range all {
		if q.PID > 0 {
			list = append(list, q)
		}
	}
	return list, nil
}

// RefuseBusy says why an interface must not be taken away from the RDMA devices
// on it: processes other than own have queue pairs there. "" where there are none,
// or where the rdma command cannot tell.
func RefuseBusy(ctx context.Context, r Runner, devices []Device, dev string, own int) string {
	for i := range devices {
		if devices[i].Netdev != dev {
			continue
		}
		list, err := UserQPs(ctx, r, devices[i].Name)
		if err != nil {
			continue
		}
		for _, q := range list {
			if q.PID != own {
				return fmt.Sprintf("process %d (%s) has queue pair %d on %s", q.PID, q.Process, q.Number, q.Device)
			}
		}
	}
	return ""
}
