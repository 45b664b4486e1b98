package trace

// Sink collects the rows of one node in memory. A model appends to the Sink of
// its own node; the runner drains all Sinks between windows into the Writer.
// The zero Sink of node 0 is ready for use; a nil *Sink drops what it is given.
type Sink struct {
	Node   int32
	Points []Point
	Events []Event
	Flows  []Flow
	QPs    []QueuePair

	NoPoints bool // drops points: nobody will read the series
	seq      uint64
}

// Point appends one bin.
func (s *Sink) Point(p Point) {
	if s != nil && !s.NoPoints {
		s.Points = append(s.Points, p)
	}
}

// Event appends what happened at t; Node and Seq are filled in.
func (s *Sink) Event(e Event) {
	if s != nil {
		e.Node, e.Seq = s.Node, s.seq
		s.seq++
		s.Events = append(s.Events, e)
	}
}

// Flow appends a finished (or, at the end of a run, unfinished) message.
func (s *Sink) Flow(f Flow) {
	if s != nil {
		s.Flows = append(s.Flows, f)
	}
}

// QueuePair appends a queue pair that begins to send.
func (s *Sink) QueuePair(q QueuePair) {
	if s != nil {
		s.QPs = append(s.QPs, q)
	}
}

// Len returns how many rows wait.
func (s *Sink) Len() int { return len(s.Points) + len(s.Events) + len(s.Flows) + len(s.QPs) }

// Reset empties the Sink and keeps its memory.
func (s *Sink) Reset() {
	s.Points, s.Events, s.Flows, s.QPs = s.Points[:0], s.Events[:0], s.Flows[:0], s.QPs[:0]
}

// Names numbers the objects of a run from 1, in the order in which they are
// first named. It is used while a run is built, by one goroutine.
type Names struct {
	list []Object
	ids  map[Object]ObjectID
}

// NewNames returns an empty table.
func NewNames() *Names { return &Names{ids: map[Object]ObjectID{}} }

// ID returns the number of an object, giving it one if it has none.
func (n *Names) ID(o Object) ObjectID {
	if id, ok := n.ids[o]; ok {
		return id
	}
	n.list = append(n.list, o)
	id := ObjectID(len(n.list))
	n.ids[o] = id
	return id
}

// Lookup returns the number of an object that has one, else 0. It may be
// called from several goroutines once the run is built.
func (n *Names) Lookup(o Object) ObjectID { return n.ids[o] }

// Name returns the object of a number, "" for 0 and unknown numbers.
func (n *Names) Name(id ObjectID) Object {
	if id == 0 || int(id) > len(n.list) {
		return ""
	}
	return n.list[id-1]
}

// TopologyFile is topology.json: what reports know of the fabric.
type TopologyFile struct {
	Name  string         `json:"name"`
	Nodes []TopologyNode `json:"nodes"`
	Links []TopologyLink `json:"links"`
}

// TopologyNode is a node of topology.json; its index is its position.
type TopologyNode struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // host | switch
	Tier int    `json:"tier"` // 0 host, 1 leaf, 2 aggregation or spine, 3 core
	Pod  int    `json:"pod"`  // -1 = none
}

// TopologyLink is a link of topology.json. Port names are node:port.
type TopologyLink struct {
	A        int     `json:"a"`
	APort    int     `json:"a_port"`
	AName    string  `json:"a_name,omitempty"` // of the port, where an imported topology or configuration names it: swp1, Ethernet4
	B        int     `json:"b"`
	BPort    int     `json:"b_port"`
	BName    string  `json:"b_name,omitempty"`
	RateAB   int64   `json:"rate_ab_bps"`
	RateBA   int64   `json:"rate_ba_bps"`
	DelayABs float64 `json:"delay_ab_s"`
	DelayBAs float64 `json:"delay_ba_s"`
}
