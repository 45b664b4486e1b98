package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Writer writes one run directory. It is used by one goroutine. The directory
// appears under its name at Finish; until then, and after Abort, there is
// nothing. Memory is bounded: rows are encoded as they come, and of all rows
// only those of unfinished messages and the counters wait for the end.
//
// Rows come in batches by Write or Drain. A batch holds everything that
// happened in one span of time, and spans follow each other; how a run is cut
// into batches changes no byte of the directory.
type Writer struct {
	dir       *staging
	manifest  Manifest
	names     *Names
	hosts     map[string]bool // by node name: host or not
	series    *table[pointRow]
	events    *table[eventRow]
	flowFile  *os.File
	flows     *bufio.Writer
	delayFile *os.File
	delays    *bufio.Writer
	ways      *wayTable
	print     *fingerprint
	counters  []Counter
	open      []Flow // unfinished messages
	line      []byte
	keys      []sortKey
	order     pointOrder
	batch     []*Flow
	one       [1]*Sink
	last      struct {
		event sortKey
		flow  Flow
	}
	err error
}

// Create begins a run directory at dir. It refuses a directory that is neither
// empty nor a run; a run that is already there is replaced at Finish, not
// before. names are the objects that points and events refer to; nil if there
// are none.
func Create(dir string, m Manifest, names *Names) (*Writer, error) {
	m.Schema = Schema
	if m.Compat == "" {
		m.Compat = "none"
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", FileManifest, err)
	}
	if names == nil {
		names = NewNames()
	}
	s, err := stage(dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: s, manifest: m, names: names, print: newFingerprint()}
	if err := w.createFiles(); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *Writer) createFiles() (err error) {
	if w.series, err = newTable[pointRow](w.path(FileSeries)); err != nil {
		return err
	}
	if w.events, err = newTable[eventRow](w.path(FileEvents)); err != nil {
		return err
	}
	if w.flowFile, err = os.Create(w.path(FileFlows)); err != nil {
		return err
	}
	w.flows = bufio.NewWriterSize(w.flowFile, 64*1024)
	if _, err = w.flows.WriteString(strings.Join(flowColumns, ",") + "\n"); err != nil {
		return err
	}
	if w.delayFile, err = os.Create(w.path(FileDelays)); err != nil {
		return err
	}
	w.delays = bufio.NewWriterSize(w.delayFile, 64*1024)
	if _, err = w.delays.WriteString(strings.Join(delayColumns(), ",") + "\n"); err != nil {
		return err
	}
	w.ways, err = newWayTable(w.path(FilePaths), w.path(FileQPs), w.names)
	return err
}

func (w *Writer) path(name string) string { return filepath.Join(w.dir.tmp, filepath.FromSlash(name)) }

// Write appends one batch: all rows of a span of time, in any order. It does
// not keep or change the slices.
func (w *Writer) Write(points []Point, events []Event, flows []Flow) error {
	w.one[0] = &Sink{Points: points, Events: events, Flows: flows}
	return w.gather(w.one[:])
}

// Drain appends the rows of all sinks as one batch and empties them. The order
// of the sinks must not depend on chance: it decides among points of one
// object and instant.
func (w *Writer) Drain(sinks []*Sink) error {
	err := w.gather(sinks)
	for _, s := range sinks {
		if s != nil {
			s.Reset()
		}
	}
	return err
}

func (w *Writer) gather(sinks []*Sink) error {
	if w.err == nil {
		w.err = errors.Join(w.writePoints(sinks), w.writeEvents(sinks), w.writeFlows(sinks), w.ways.write(sinks))
	}
	return w.err
}

// ExpectCounters makes room for about so many counters.
func (w *Writer) ExpectCounters(n int) { w.counters = slices.Grow(w.counters, n) }

// Counters adds totals; they are sorted and written at Finish.
func (w *Writer) Counters(list []Counter) { w.counters = append(w.counters, list...) }

// Topology writes topology.json. Counters get their names of operators by it:
// those of switches from SONiC, those of hosts from mlx5.
func (w *Writer) Topology(t TopologyFile) error {
	w.hosts = map[string]bool{}
	for _, n := range t.Nodes {
		w.hosts[n.Name] = n.Kind == "host"
	}
	return w.writeJSON(FileTopology, t)
}

// owned are the files that only the Writer itself writes.
var owned = []string{FileManifest, FileTopology, FileFlows, FileSeries, FileEvents, FileCounters, FileDelays, FilePaths, FileQPs}

// File adds a file; name is a path inside the run directory with slashes.
func (w *Writer) File(name string, data []byte) error {
	if slices.Contains(owned, name) {
		return fmt.Errorf("%s is written by the Writer itself", name)
	}
	return w.writeFile(name, data)
}

// JSON adds a file that holds v.
func (w *Writer) JSON(name string, v any) error {
	if slices.Contains(owned, name) {
		return fmt.Errorf("%s is written by the Writer itself", name)
	}
	return w.writeJSON(name, v)
}

func (w *Writer) writeJSON(name string, v any) error {
	p, err := EncodeJSON(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return w.writeFile(name, p)
}

func (w *Writer) writeFile(name string, data []byte) error {
	if w.err != nil {
		return w.err
	}
	path := w.path(name)
	if !filepath.IsLocal(filepath.FromSlash(name)) || path == w.dir.tmp {
		return fmt.Errorf("%q is not the name of a file in a run directory", name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return WriteWhole(path, data)
}

// Dir returns where the run directory is, or will be: another run may have
// taken its name.
func (w *Writer) Dir() string { return w.dir.target }

// Finish completes the run directory, puts it in its place and returns the
// fingerprint of the results. After an error nothing is left behind.
func (w *Writer) Finish(end ManifestEnd) (string, error) {
	err := w.err
	if err == nil {
		err = w.finish(end)
	}
	if err != nil {
		w.Abort()
		return "", err
	}
	return w.manifest.Fingerprint, nil
}

func (w *Writer) finish(end ManifestEnd) error {
	if end.Simulated < 0 {
		return fmt.Errorf("%s: the run ended before it began, at %v", FileManifest, end.Simulated)
	}
	slices.SortStableFunc(w.open, func(a, b Flow) int {
		return cmp.Or(natural(a.Src, b.Src), cmp.Compare(a.ID, b.ID))
	})
	for _, f := range w.open {
		if err := w.writeFlow(f); err != nil {
			return err
		}
	}
	if err := errors.Join(w.flows.Flush(), w.flowFile.Close()); err != nil {
		return fmt.Errorf("%s: %w", FileFlows, err)
	}
	if err := errors.Join(w.delays.Flush(), w.delayFile.Close(), w.ways.close()); err != nil {
		return fmt.Errorf("%s, %s, %s: %w", FileDelays, FilePaths, FileQPs, err)
	}
	if err := w.series.close(); err != nil {
		return fmt.Errorf("%s: %w", FileSeries, err)
	}
	if err := w.events.close(); err != nil {
		return fmt.Errorf("%s: %w", FileEvents, err)
	}
	if err := w.writeCounters(); err != nil {
		return fmt.Errorf("%s: %w", FileCounters, err)
	}
	m := &w.manifest
	m.Simulated, m.Partial, m.Reason = Seconds(end.Simulated), end.Partial, end.Reason
	m.Rows = Rows{Flows: m.Rows.Flows, Events: w.events.n, Points: w.series.n, Counters: m.Rows.Counters}
	m.Series, m.Events = w.series.fileSum(), w.events.fileSum()
	m.Fingerprint = w.print.hex()
	if err := w.writeJSON(FileManifest, m); err != nil {
		return err
	}
	if err := w.dir.publish(); err != nil {
		return err
	}
	w.err = errors.New("the run directory is finished")
	return nil
}

func (w *Writer) writeCounters() error {
	if err := sortCounters(w.counters); err != nil {
		return err
	}
	f, err := os.Create(w.path(FileCounters))
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 64*1024)
	_, _ = out.WriteString(strings.Join(counterColumns, ",") + "\n") // Flush keeps the error
	for i := range w.counters {
		c := &w.counters[i]
		w.print.counter(c)
		w.line = appendCounter(w.line[:0], c, "")
		_, _ = out.Write(w.line)
	}
	w.manifest.Rows.Counters = int64(len(w.counters))
	deriveCounters(w.counters, w.hosts, func(d *derived) {
		w.manifest.Rows.Counters++
		w.line = appendCounter(w.line[:0], &d.Counter, d.from)
		_, _ = out.Write(w.line)
	})
	return errors.Join(out.Flush(), f.Close())
}

// Abort gives the run up; nothing is left behind. After Finish it does nothing.
func (w *Writer) Abort() {
	if w.err == nil {
		w.err = errors.New("the run directory was given up")
	}
	if w.series != nil {
		_ = w.series.file.Close()
	}
	if w.events != nil {
		_ = w.events.file.Close()
	}
	if w.flowFile != nil {
		_ = w.flowFile.Close()
	}
	if w.delayFile != nil {
		_ = w.delayFile.Close()
	}
	if w.ways != nil {
		_, _ = w.ways.pathFile.Close(), w.ways.qpFile.Close()
	}
	w.dir.discard()
}
