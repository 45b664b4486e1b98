package capture

import (
	"errors"
	"fmt"
	"io"
)

// Source is one capture among several.
type Source struct {
	Name string
	In   io.Reader
}

// Merged reads several captures as one, in the order of their time stamps.
// Records of one capture stay in its order.
type Merged struct {
	// Interfaces are those of all captures; where there are several captures,
	// their names begin with that of the capture.
	Interfaces []Interface
	// Cut names the captures that were cut off, Broken says of others what was
	// wrong with them after some good records.
	Cut, Broken []string

	inputs []*input
}

// input is a capture with the record that comes next.
type input struct {
	name   string
	r      *Reader
	rec    Record
	data   []byte
	read   bool // a record was
	done   bool
	number []int // of its interfaces among all
}

// Merge reads the heads of captures.
func Merge(sources []Source) (*Merged, error) {
	m := &Merged{}
	for _, s := range sources {
		r, err := NewReader(s.In)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		m.inputs = append(m.inputs, &input{name: s.Name, r: r})
	}
	if len(m.inputs) == 1 {
		return m, nil
	}
	for _, in := range m.inputs {
		if err := m.advance(in); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Application returns who wrote the first capture.
func (m *Merged) Application() string { return m.inputs[0].r.Application }

// Ended returns when the last capture ended and how many packets all of them
// lost, as far as their statistics say; HasTime is false where they do not.
func (m *Merged) Ended() (end Record) {
	for _, in := range m.inputs {
		e := &in.r.Ended
		if e.HasTime && (!end.HasTime || before(&end, e)) {
			end.Sec, end.Pico, end.HasTime = e.Sec, e.Pico, true
		}
		end.Drops += e.Drops
	}
	return end
}

// advance reads the next record of a capture.
func (m *Merged) advance(in *input) error {
	err := in.r.Next(&in.rec)
	switch {
	case errors.Is(err, io.EOF) || IsCut(err):
		in.done = true
		if IsCut(err) {
			m.Cut = append(m.Cut, in.name)
		}
		return nil
	case err != nil && in.read:
		// What came before it is good.
		in.done = true
		m.Broken = append(m.Broken, fmt.Sprintf("%s: %v", in.name, err))
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", in.name, err)
	}
	in.read = true
	for i := len(in.number); i < len(in.r.Interfaces); i++ {
		x := in.r.Interfaces[i]
		if len(m.inputs) > 1 {
			name := x.Name
			if name == "" {
				name = fmt.Sprintf("if%d", i)
			}
			x.Name = in.name + "/" + name
		}
		in.number = append(in.number, len(m.Interfaces))
		m.Interfaces = append(m.Interfaces, x)
	}
	in.rec.Interface = in.number[in.rec.Interface]
	return nil
}

// Next returns the earliest record that is left, io.EOF after the last one. It
// is valid until the next call.
func (m *Merged) Next(rec *Record) error {
	if len(m.inputs) == 1 {
		in := m.inputs[0]
		if in.done {
			return io.EOF
		}
		if err := m.advance(in); err != nil {
			return err
		}
		if in.done {
			return io.EOF
		}
		*rec = in.rec
		return nil
	}
	var first *input
	for _, in := range m.inputs {
		if !in.done && (first == nil || before(&in.rec, &first.rec)) {
			first = in
		}
	}
	if first == nil {
		return io.EOF
	}
	*rec = first.rec
	first.data = append(first.data[:0], first.rec.Data...)
	rec.Data = first.data
	return m.advance(first)
}

func before(a, b *Record) bool { return a.Sec < b.Sec || a.Sec == b.Sec && a.Pico < b.Pico }
