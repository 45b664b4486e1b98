package metric

import (
	"reflect"
	"slices"
	"strings"
)

// Units of figures.
const (
	Seconds  = "s"
	BitsPerS = "bps"
	Bytes    = "bytes"
	Ratio    = "ratio"
	Count    = "count"
)

// Path is one figure of metrics.json.
type Path struct {
	Name  string // packets.dropped.lossless
	Unit  string // Seconds, BitsPerS, Bytes, Ratio or Count
	Doc   string // its definition
	index []int
}

// paths are the figures that have a number, in the order of metrics.json.
var paths = append(collect(reflect.TypeOf(Metrics{}), nil, "", Count, ""), completionPaths()...)

func collect(t reflect.Type, index []int, prefix, unit, doc string) []Path {
	var out []Path
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name := prefix + f.Tag.Get("json")
		u, d := unit, f.Tag.Get("doc")
		if own, ok := f.Tag.Lookup("unit"); ok {
			u = own
		}
		if doc != "" {
			d += " of: " + doc
		}
		at := append(slices.Clone(index), i)
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		switch ft.Kind() {
		case reflect.Struct:
			out = append(out, collect(ft, at, name+".", u, f.Tag.Get("doc"))...)
		case reflect.Int, reflect.Int64, reflect.Float64, reflect.Bool:
			out = append(out, Path{name, u, d, at})
		}
	}
	return out
}

// completionPaths gives every status a path, so that one that did not occur is 0.
func completionPaths() []Path {
	out := make([]Path, 0, len(statuses))
	for _, s := range statuses {
		out = append(out, Path{Name: "completions." + s.short, Unit: Count, Doc: "messages that completed with " + s.ibv})
	}
	return out
}

// Paths lists every figure that an expectation can name, with unit and definition.
func Paths() []Path { return slices.Clone(paths) }

// find returns the figure of that name.
func find(name string) (Path, bool) {
	for _, p := range paths {
		if p.Name == name {
			return p, true
		}
	}
	return Path{}, false
}

// Lookup returns a figure by its path, such as packets.dropped.lossless or
// flows.fct_s.p99, in SI units; ok is false if there is no such path or the
// figure was not measured. True is 1.
func (m *Metrics) Lookup(path string) (v float64, ok bool) {
	p, ok := find(path)
	if !ok {
		return 0, false
	}
	if p.index == nil {
		n := m.Completions[strings.TrimPrefix(path, "completions.")]
		return float64(n), m.Completions != nil
	}
	f := reflect.ValueOf(m).Elem().FieldByIndex(p.index)
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return 0, false
		}
		f = f.Elem()
	}
	switch {
	case f.CanInt():
		return float64(f.Int()), true
	case f.CanFloat():
		return f.Float(), true
	case f.Bool():
		return 1, true
	}
	return 0, true
}

// status is a completion status under its two names.
type status struct{ ibv, short string }

// statuses are those of ibv_wc_status, in its order.
var statuses = []status{
	{"IBV_WC_SUCCESS", "success"}, {"IBV_WC_LOC_LEN_ERR", "local_length"}, {"IBV_WC_LOC_QP_OP_ERR", "local_qp_operation"},
	{"IBV_WC_LOC_EEC_OP_ERR", "local_eec_operation"}, {"IBV_WC_LOC_PROT_ERR", "local_protection"}, {"IBV_WC_WR_FLUSH_ERR", "flushed"},
	{"IBV_WC_MW_BIND_ERR", "mw_bind"}, {"IBV_WC_BAD_RESP_ERR", "bad_response"}, {"IBV_WC_LOC_ACCESS_ERR", "local_access"},
	{"IBV_WC_REM_INV_REQ_ERR", "remote_invalid_request"}, {"IBV_WC_REM_ACCESS_ERR", "remote_access"}, {"IBV_WC_REM_OP_ERR", "remote_operation"},
	{"IBV_WC_RETRY_EXC_ERR", "retry_exceeded"}, {"IBV_WC_RNR_RETRY_EXC_ERR", "rnr_retry_exceeded"}, {"IBV_WC_LOC_RDD_VIOL_ERR", "local_rdd_violation"},
	{"IBV_WC_REM_INV_RD_REQ_ERR", "remote_invalid_rd_request"}, {"IBV_WC_REM_ABORT_ERR", "remote_aborted"}, {"IBV_WC_INV_EECN_ERR", "invalid_eecn"},
	{"IBV_WC_INV_EEC_STATE_ERR", "invalid_eec_state"}, {"IBV_WC_FATAL_ERR", "fatal"}, {"IBV_WC_RESP_TIMEOUT_ERR", "response_timeout"},
	{"IBV_WC_GENERAL_ERR", "general"},
}

// shortStatus returns the key under which completions counts a status.
func shortStatus(ibv string) string {
	for _, s := range statuses {
		if s.ibv == ibv {
			return s.short
		}
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(ibv, "IBV_WC_"), "_ERR"))
}
