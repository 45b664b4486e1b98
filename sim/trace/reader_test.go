package trace

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readAll reads everything that a run directory has.
func readAll(dir string) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	for _, err := range r.Points("", nil) {
		if err != nil {
			return err
		}
	}
	if _, _, err := r.Perf(); err != nil {
		return err
	}
	return r.Verify()
}

// The fear: a cut file is read as a short run. Every file is cut at many places
// and every cut must be an error that names the file.
func TestTruncatedFilesAreErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	writeSample(t, dir, newSample(20), 1e12)
	require.NoError(t, readAll(dir))
	for _, name := range []string{FileManifest, FileTopology, FileResolved, FileFlows, FileCounters, FileSeries, FileEvents} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := 0; n < len(whole); n += 1 + len(whole)/41 {
			if len(bytes.TrimSpace(whole[n:])) == 0 {
				continue // a JSON file needs no last line feed
			}
			require.NoError(t, os.WriteFile(path, whole[:n], 0o600))
			require.ErrorContains(t, readAll(dir), name, "cut at %d of %d", n, len(whole))
		}
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
	require.NoError(t, readAll(dir))
}

func TestChangedBytesAreNoticed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	writeSample(t, dir, newSample(20), 1e12)
	for name, change := range map[string][2]string{
		FileFlows:    {"h3,", "h4,"},
		FileCounters: {"leaf0:1,3,pfc_xoff_tx,4", "leaf0:1,3,pfc_xoff_tx,5"},
	} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(whole), change[0])
		require.NoError(t, os.WriteFile(path, bytes.Replace(whole, []byte(change[0]), []byte(change[1]), 1), 0o600))
		require.ErrorContains(t, readAll(dir), "files were changed")
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
	for _, name := range []string{FileEvents, FileSeries} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for i := 0; i < len(whole); i += 23 {
			bad := bytes.Clone(whole)
			bad[i] ^= 0x15
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			require.ErrorContains(t, readAll(dir), "it was changed or damaged")
		}
		require.NoError(t, os.WriteFile(path, append(bytes.Clone(whole), 0), 0o600))
		require.ErrorContains(t, readAll(dir), "it was changed or damaged")
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
	require.NoError(t, readAll(dir))
}

// Should a damaged table pass the sum all the same, then it does not panic.
func TestDamagedTablesDoNotPanic(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	writeSample(t, dir, newSample(20), 1e12)
	whole, err := os.ReadFile(filepath.Join(dir, FileEvents))
	require.NoError(t, err)
	r, failed := rand.New(rand.NewPCG(7, 8)), 0
	for range 500 {
		bad := bytes.Clone(whole)
		for range 1 + r.IntN(3) {
			bad[4+r.IntN(len(bad)-12)] = byte(r.IntN(256)) // not the length of the footer
		}
		columns := []*column{intColumn("time_ps"), smallColumn("node"), textColumn("kind"), floatColumn("value")}
		if scanParquet(bytes.NewReader(bad), int64(len(bad)), 40, columns, func(int) bool { return true }) != nil {
			failed++
		}
	}
	require.Greater(t, failed, 100)
}

func TestErrorsNameFileLineAndValue(t *testing.T) {
	fresh := func() string {
		dir := filepath.Join(t.TempDir(), "run")
		writeSample(t, dir, newSample(3), 1e12)
		return dir
	}
	for _, c := range []struct{ file, old, with, want string }{
		{FileFlows, "1000000", "-7", `flows.csv: line 2: bytes: "-7" is not a number of bytes`},
		{FileFlows, "0.00000", "soon", `is not a time in seconds`},
		{FileFlows, ",17,", ",99999999999,", `line 2: qp: "99999999999" is not a whole number of 32 bits`},
		{FileFlows, "status", "state", `flows.csv: line 1: no column "status": want id,src,dst`},
		{FileFlows, "0,h0,", "h0,", `wrong number of fields`},
		{FileCounters, "fabric,-1", "fabric,900", `counters.csv: line 2: prio: "900" is not a priority (-1 = none)`},
		{FileCounters, ",1099511627776,", ",many,", `value: "many" is not a number`},
		{FileManifest, Schema, "rdmasim-run/9", `manifest.json: schema "rdmasim-run/9" cannot be read: this program reads "rdmasim-run/1"`},
		{FileManifest, "simulated\"", "dreamt\"", `manifest.json: mode "dreamt": want`},
		{FileManifest, `"schema"`, `"skema"`, `manifest.json: no schema field`},
		{FileTopology, `"b": 2`, `"b": 7`, `topology.json: link 0 joins nodes 0 and 7: there are 3 nodes`},
		{FileManifest, `"flows": 4`, `"flows": 5`, `flows.csv: 4 rows where manifest.json says 5: the file is truncated`},
		{FileManifest, `"points": 6`, `"points": 7`, `series.parquet: 6 rows where manifest.json says 7`},
	} {
		dir := fresh()
		path := filepath.Join(dir, c.file)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(whole), c.old)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(whole), c.old, c.with, 1)), 0o600))
		assert.ErrorContains(t, readAll(dir), c.want)
		assert.ErrorContains(t, readAll(dir), dir)
	}
	for _, name := range []string{FileTopology, FileResolved} {
		dir := fresh()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(" null\n"), 0o600))
		assert.ErrorContains(t, readAll(dir), filepath.Join(dir, name)+": is null: want an object")
	}
	for _, name := range []string{FileFlows, FileSeries, FileEvents, FileCounters} {
		dir := fresh()
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		assert.ErrorContains(t, readAll(dir), filepath.Join(dir, name)+": no such file")
		r, err := Open(dir)
		require.NoError(t, err)
		assert.ErrorContains(t, r.Whole(), filepath.Join(dir, name)+" is missing, and manifest.json says that it has")
	}
	_, err := Open(t.TempDir())
	assert.ErrorContains(t, err, "is not a run directory: it has no manifest.json")

	// A table of another kind.
	p, err := os.ReadFile(filepath.Join(fresh(), FileEvents))
	require.NoError(t, err)
	_, err = openTable(bytes.NewReader(p), int64(len(p)), []*column{intColumn("time_ps"), textColumn("metric")})
	assert.ErrorContains(t, err, `no column "metric" of type BYTE_ARRAY`)
	_, err = openTable(bytes.NewReader(p), int64(len(p)), []*column{floatColumn("time_ps")})
	assert.ErrorContains(t, err, `no column "time_ps" of type DOUBLE`)
}

func TestSecondsAreExact(t *testing.T) {
	for ps, text := range map[int64]string{0: "0", 1: "0.000000000001", 80: "0.00000000008", 1_500_000_000_000: "1.5", -1: "-0.000000000001",
		9_000_000_000_000_000_000: "9000000", 123_456_789_012_345_678: "123456.789012345678"} {
		assert.Equal(t, text, string(appendSeconds(nil, ps)))
		got, err := parseSeconds(text)
		require.NoError(t, err)
		assert.Equal(t, ps, got)
	}
	for text, ps := range map[string]int64{"1e-06": 1_000_000, "0.50": 500_000_000_000, "3.2E-5": 32_000_000, "-1e-12": -1, "7.": 7_000_000_000_000} {
		got, err := parseSeconds(text)
		require.NoError(t, err, text)
		assert.Equal(t, ps, got, text)
	}
	for _, text := range []string{"", ".", ".5", "1e99", "0.0000000000001", "1s", "NaN", "--1", "99999999999999", "1_0", "+1", "1e", "0x1"} {
		_, err := parseSeconds(text)
		assert.Error(t, err, text)
	}
}

func TestNaturalOrder(t *testing.T) {
	list := []string{"", "h", "h1", "h01", "h2", "h10", "h10:2", "h10:10", "h10x", "leaf0:1/q3", "leaf0:1/q10", "leaf1"}
	for i := range list {
		for j := range list {
			c := natural(list[i], list[j])
			switch {
			case i == j:
				assert.Zero(t, c)
			case strings.Contains("h1 h01", list[i]) && strings.Contains("h1 h01", list[j]):
				assert.Equal(t, -c, natural(list[j], list[i]), "equal numbers fall back to bytes")
			case i < j:
				assert.Negative(t, c, "%s %s", list[i], list[j])
			default:
				assert.Positive(t, c, "%s %s", list[i], list[j])
			}
		}
	}
}

// FuzzFlows: a row that is read is written as a row that is read the same.
func FuzzFlows(f *testing.F) {
	head := strings.Join(flowColumns, ",") + "\n"
	f.Add([]byte(head + "1,h0,h1,2,SEND,10,0.000000000001,3.000000000001,3,1.5,2.000000000,0,IBV_WC_SUCCESS,,,10\n"))
	f.Add([]byte(head + "3,\"h,0\",h1,2,SEND,10,0.5,,,,,0,unfinished,w,\"a \"\"b\"\"\",4\n"))
	f.Add([]byte("status,id\n1\n"))
	f.Add([]byte(head + "1,h0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var rows []Flow
		err := scanCSV(bytes.NewReader(data), flowColumns, func(r *row) (bool, error) {
			f, err := r.flow()
			rows = append(rows, f)
			return true, err
		})
		if err != nil {
			return
		}
		out := []byte(head)
		for i := range rows {
			rows[i].normal()
			out = appendFlow(out, &rows[i])
		}
		n := 0
		err = scanCSV(bytes.NewReader(out), flowColumns, func(r *row) (bool, error) {
			f, err := r.flow()
			require.Equal(t, rows[n], f)
			n++
			return true, err
		})
		require.NoError(t, err)
		require.Len(t, rows, n)
	})
}

func FuzzCounters(f *testing.F) {
	head := strings.Join(counterColumns, ",") + "\n"
	f.Add([]byte(head + "leaf0:1,3,pfc_xoff_tx,4,\nleaf0:1,3,PFC3 Tx,10,pfc_xoff_tx\nh0,-1,x,1e300,\n"))
	f.Add([]byte(head + "a,1,b,NaN,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var rows []Counter
		err := scanCSV(bytes.NewReader(data), counterColumns, func(r *row) (bool, error) {
			c, derived, err := r.counter()
			if !derived {
				rows = append(rows, c)
			}
			return true, err
		})
		if err != nil || sortCounters(rows) != nil {
			return
		}
		for i := range rows {
			line := appendCounter([]byte(head), &rows[i], "")
			err := scanCSV(bytes.NewReader(line), counterColumns, func(r *row) (bool, error) {
				c, _, err := r.counter()
				if rows[i].Value == rows[i].Value {
					require.Equal(t, rows[i], c)
				}
				return true, err
			})
			require.NoError(t, err)
		}
		deriveCounters(rows, map[string]bool{"leaf0": false, "h0": true}, func(*derived) {})
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":"rdmasim-run/1","name":"x","mode":"simulated","seed":7,"warmup_s":0.001,"simulated_s":1e-3,"rows":{"flows":1}}`))
	f.Add([]byte(`{"schema":"rdmasim-run/1","mode":"capture","simulated_s":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		p, err := EncodeJSON(m)
		require.NoError(t, err)
		again, err := parseManifest(p)
		require.NoError(t, err)
		q, err := EncodeJSON(again)
		require.NoError(t, err)
		require.Equal(t, string(p), string(q))
		require.True(t, isManifest(p))
	})
}

// What is not measured of a message stays so on its way through flows.csv.
func TestRetransmitsUnknown(t *testing.T) {
	for _, n := range []uint64{0, 7, RetransmitsUnknown} {
		f := Flow{Src: "a", Dst: "b", Start: 1, End: 2, Status: StatusSuccess, Retransmits: n}
		line := string(appendFlow(nil, &f))
		rec := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		r := &row{rec: rec, keep: map[string]string{}}
		for i := range rec {
			r.at, r.name = append(r.at, i), append(r.name, "column")
		}
		got, err := r.flow()
		require.NoError(t, err)
		require.Equal(t, n, got.Retransmits, line)
	}
}
