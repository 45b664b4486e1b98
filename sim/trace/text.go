package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"rdmasim/sim"
)

const psPerSecond = int64(sim.Second)

// EncodeJSON returns v as the JSON files of a run directory have it: indented,
// with < and > as they are, ending in a line feed.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// appendSeconds appends ps picoseconds as decimal seconds, exactly.
func appendSeconds(b []byte, ps int64) []byte {
	u := uint64(ps)
	if ps < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/uint64(psPerSecond), 10)
	frac := u % uint64(psPerSecond)
	if frac == 0 {
		return b
	}
	var d [13]byte
	d[0] = '.'
	for i := 12; i > 0; i-- {
		d[i] = byte('0' + frac%10)
		frac /= 10
	}
	n := 13
	for d[n-1] == '0' {
		n--
	}
	return append(b, d[:n]...)
}

// parseSeconds reads decimal seconds. More than twelve decimals, as other
// tools write them when they rewrite a file, are an error.
func parseSeconds(s string) (int64, error) {
	bad := func() (int64, error) { return 0, fmt.Errorf("%q is not a time in seconds", s) }
	t, neg := s, false
	if r, ok := strings.CutPrefix(t, "-"); ok {
		t, neg = r, true
	}
	if strings.ContainsAny(t, "eE") { // 1e-06, as data frames write it
		d, err := sim.ParseDuration(t + "s")
		if err != nil {
			return bad()
		}
		if neg {
			d = -d
		}
		return int64(d), nil
	}
	whole, frac, _ := strings.Cut(t, ".")
	frac = strings.TrimRight(frac, "0")
	if whole == "" || len(whole) > 18 || len(frac) > 12 || !digits(whole) || !digits(frac) {
		return bad()
	}
	w, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || w >= (1<<63-1)/psPerSecond {
		return bad()
	}
	v := w * psPerSecond
	scale := psPerSecond
	for i := 0; i < len(frac); i++ {
		scale /= 10
		v += int64(frac[i]-'0') * scale
	}
	if neg {
		v = -v
	}
	return v, nil
}

func digits(s string) bool { return digitRun(s) == len(s) }

// appendFloat appends the shortest decimal that reads back as v; whole numbers
// of a size that a count can have are written without an exponent.
func appendFloat(b []byte, v float64) []byte {
	if v == float64(int64(v)) && v < 1<<53 && v > -(1<<53) && v != 0 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// clean replaces control characters, which no table can carry unharmed.
func clean(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] == 0x7f {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7f {
					return '?'
				}
				return r
			}, s)
		}
	}
	return s
}

// appendField appends a field of a CSV record, quoted where RFC 4180 asks for it.
func appendField(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") && (s == "" || s[0] != ' ') {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

// natural compares names so that leaf2 comes before leaf10.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if nx, ny := digitRun(x), digitRun(y); nx > 0 && ny > 0 {
			p, q := strings.TrimLeft(x[:nx], "0"), strings.TrimLeft(y[:ny], "0")
			if c := cmp.Or(len(p)-len(q), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[nx:], y[ny:]
			continue
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(len(x)-len(y), strings.Compare(a, b))
}

// digitRun returns how many digits s begins with.
func digitRun(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
