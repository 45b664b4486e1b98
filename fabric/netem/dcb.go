package netem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// DCB is how an interface treats priorities. Fields of a part that could not be
// read are nil.
type DCB struct {
	PFC       *[8]bool    // priorities that may be paused
	PFCDelay  int         // cable delay, in bit times, as configured
	TrustDSCP *bool       // the priority follows the DSCP of a packet, and not its VLAN tag
	DSCPPrio  map[int]int // priority of a DSCP, where there is a map
	PrioTC    *[8]int     // traffic class of a priority
	Buffer    *[8]int     // receive buffer of a priority
}

// Lossless lists the priorities on which PFC is on.
func (d *DCB) Lossless() (list []int) {
	if d.PFC == nil {
		return nil
	}
	for p, on := range d.PFC {
		if on {
			list = append(list, p)
		}
	}
	return list
}

// ReadDCB asks the dcb command of iproute2, and where that tells nothing the
// mlnx_qos command of NVIDIA.
func ReadDCB(ctx context.Context, r Runner, dev string) (DCB, error) {
	if err := checkInterface(dev); err != nil {
		return DCB{}, err
	}
	var d DCB
	var errs []error
	for _, part := range []struct {
		what  string
		parse func([]byte) error
	}{{"pfc", d.parsePFC}, {"ets", d.parseETS}, {"app", d.parseApp}, {"buffer", d.parseBuffer}} {
		out, err := r.Run(ctx, Command{"dcb", "-j", part.what, "show", "dev", dev})
		if err == nil {
			err = part.parse([]byte(out))
		}
		errs = append(errs, err)
	}
	if d.PFC != nil {
		return d, nil
	}
	out, err := r.Run(ctx, Command{"mlnx_qos", "-i", dev})
	if err == nil {
		err = d.parseMlnxQoS(out)
	}
	if d.PFC == nil {
		return d, fmt.Errorf("%w: DCB of %s: %w", ErrNotSupported, dev, errors.Join(append(errs, err)...))
	}
	return d, nil
}

// onOff is a flag that iproute2 prints as true or as "on".
type onOff bool

func (f *onOff) UnmarshalJSON(b []byte) error {
	switch string(bytes.Trim(b, `"`)) {
	case "true", "on", "1":
		*f = true
	case "false", "off", "0":
		*f = false
	default:
		return fmt.Errorf("%s: want on or off", b)
	}
	return nil
}

func (d *DCB) parsePFC(b []byte) error {
	var v struct {
		Delay int     `json:"delay"`
		Prio  []onOff `json:"prio_pfc"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("dcb -j pfc show: %w", err)
	}
	if len(v.Prio) != 8 {
		return fmt.Errorf("dcb -j pfc show: prio_pfc of %d priorities: want 8", len(v.Prio))
	}
	d.PFC, d.PFCDelay = new([8]bool), v.Delay
	for i, on := range v.Prio {
		d.PFC[i] = bool(on)
	}
	return nil
}

// eight reads an array of 8 small numbers.
func eight(b []byte, key string) (*[8]int, error) {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("dcb -j show: %w", err)
	}
	var list []int
	if err := json.Unmarshal(v[key], &list); err != nil || len(list) != 8 {
		return nil, fmt.Errorf("dcb -j show: %s is no list of 8 numbers", key)
	}
	a := [8]int(list)
	for _, n := range a {
		if n < 0 || n > 7 {
			return nil, fmt.Errorf("dcb -j show: %s has %d: want 0 to 7", key, n)
		}
	}
	return &a, nil
}

func (d *DCB) parseETS(b []byte) (err error) {
	d.PrioTC, err = eight(b, "prio_tc")
	return err
}

func (d *DCB) parseBuffer(b []byte) (err error) {
	d.Buffer, err = eight(b, "prio_buffer")
	return err
}

// parseApp reads the table of applications: entries by DSCP make the kernel's
// drivers trust the DSCP.
func (d *DCB) parseApp(b []byte) error {
	var v struct {
		DSCP [][2]json.RawMessage `json:"dscp_prio"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("dcb -j app show: %w", err)
	}
	trust := len(v.DSCP) > 0
	d.TrustDSCP = &trust
	for _, e := range v.DSCP {
		dscp, ok := dscpNumber(strings.Trim(string(e[0]), `"`))
		prio, err := strconv.Atoi(string(e[1]))
		if !ok || err != nil || prio < 0 || prio > 7 {
			return fmt.Errorf("dcb -j app show: dscp_prio has %s: %s", e[0], e[1])
		}
		if d.DSCPPrio == nil {
			d.DSCPPrio = map[int]int{}
		}
		d.DSCPPrio[dscp] = prio
	}
	return nil
}

// dscpNumber reads a DSCP by number or by its name: CS0 to CS7 (RFC 2474), AF11
// to AF43 (RFC 2597), EF (RFC 3246).
func dscpNumber(s string) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return n, n >= 0 && n <= 63
	}
	s = strings.ToUpper(s)
	switch {
	case s == "EF":
		return 46, true
	case len(s) == 3 && s[:2] == "CS" && s[2] >= '0' && s[2] <= '7':
		return int(s[2]-'0') << 3, true
	case len(s) == 4 && s[:2] == "AF" && s[2] >= '1' && s[2] <= '4' && s[3] >= '1' && s[3] <= '3':
		return int(s[2]-'0')<<3 | int(s[3]-'0')<<1, true
	}
	return 0, false
}

var (
	qosTrust   = regexp.MustCompile(`(?m)^Priority trust state: *(\w+)`)
	qosEnabled = regexp.MustCompile(`(?m)^\s*enabled((?:\s+[01]){8})\s*$`)
	qosBuffer  = regexp.MustCompile(`(?m)^\s*buffer((?:\s+[0-7]){8})\s*$`)
	qosDSCP    = regexp.MustCompile(`(?m)^\s*prio:([0-7])\s+dscp:([0-9,]*)`)
)

// parseMlnxQoS reads what "mlnx_qos -i IF" prints.
func (d *DCB) parseMlnxQoS(s string) error {
	m := qosEnabled.FindStringSubmatch(s)
	if m == nil {
		return errors.New("mlnx_qos -i: no line \"enabled\" with 8 flags")
	}
	d.PFC = new([8]bool)
	for i, f := range strings.Fields(m[1]) {
		d.PFC[i] = f == "1"
	}
	if m := qosTrust.FindStringSubmatch(s); m != nil {
		trust := m[1] == "dscp"
		d.TrustDSCP = &trust
	}
	if m := qosBuffer.FindStringSubmatch(s); m != nil {
		d.Buffer = new([8]int)
		for i, f := range strings.Fields(m[1]) {
			d.Buffer[i] = int(f[0] - '0')
		}
	}
	for _, m := range qosDSCP.FindAllStringSubmatch(s, -1) {
		for _, f := range strings.Split(m[2], ",") {
			if n, err := strconv.Atoi(f); err == nil && n < 64 {
				if d.DSCPPrio == nil {
					d.DSCPPrio = map[int]int{}
				}
				d.DSCPPrio[n] = int(m[1][0] - '0')
			}
		}
	}
	return nil
}
