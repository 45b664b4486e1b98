package hardware

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"rdmasim/sim"
	"rdmasim/sim/trace"
	"rdmasim/verbs"
)

// Agents and their coordinator speak in lines of JSON over standard input and
// output, which ssh carries: no port is opened.

// kind of a message.
type kind string

// Kinds of messages. A call is passed on to the agent of a host and answered with
// a reply of the same number; all others are between coordinator and agent.
const (
	kindHello   kind = "hello"   // agent: who it is
	kindPing    kind = "ping"    // coordinator, answered by the same with the agent's time
	kindPrepare kind = "prepare" // coordinator: the scenario and the agent's hosts
	kindReady   kind = "ready"   // agent
	kindStart   kind = "start"   // coordinator: when time 0 is
	kindCall    kind = "call"    // agent to agent
	kindReply   kind = "reply"
	kindProbe   kind = "probe" // coordinator: is there anything left to do?
	kindStop    kind = "stop"  // coordinator: end the run
	kindRows    kind = "rows"  // agent: part of its results
	kindResult  kind = "result"
	kindFailed  kind = "failed" // agent: the run cannot go on
	kindBye     kind = "bye"    // coordinator: nothing more will come
	kindDoctor  kind = "doctor" // coordinator, answered by the same: what is found on the agent's machine
	kindReach   kind = "reach"  // coordinator, answered by the same: send probes, or say which have come
	kindAlive   kind = "alive"  // coordinator, answered by the same at once, whatever the agent does
)

// message is one line.
type message struct {
	Kind kind   `json:"kind"`
	Seq  uint64 `json:"seq,omitempty"`
	To   string `json:"to,omitempty"` // host that a call is for
	Err  string `json:"err,omitempty"`
	Time int64  `json:"time_ns,omitempty"` // of the agent's clock

	Version  string            `json:"version,omitempty"`
	Scenario string            `json:"scenario,omitempty"`
	Devices  map[string]string `json:"devices,omitempty"` // device of each of the agent's hosts
	Poll     bool              `json:"poll,omitempty"`
	Done     bool              `json:"done,omitempty"`
	Lost     bool              `json:"lost,omitempty"` // the machine that a call was for
	Work     uint64            `json:"work,omitempty"` // completions so far
	Conn     *wireConn         `json:"conn,omitempty"`
	Rows     *wireRows         `json:"rows,omitempty"`
	Result   *wireResult       `json:"result,omitempty"`
	Doctor   *wireDoctor       `json:"doctor,omitempty"`
	Reach    *wireProbe        `json:"reach,omitempty"`

	from int // agent, known to the coordinator
}

// wireConn asks for a connection, or for larger memory, and answers that.
type wireConn struct {
	Load     int       `json:"load"`
	From     string    `json:"from"`
	Depth    int       `json:"depth"`
	Priority int       `json:"priority"`
	Service  uint8     `json:"service"`
	Private  uint64    `json:"private"`
	QPN      uint32    `json:"qpn"`
	MTU      verbs.MTU `json:"mtu"`
	GID      verbs.GID `json:"gid"`
	Reads    int       `json:"reads"`          // outstanding READs that it takes as responder
	Grow     sim.Bytes `json:"grow,omitempty"` // memory wanted of queue pair QPN
	Addr     uint64    `json:"addr"`
	RKey     uint32    `json:"rkey"`
	Size     sim.Bytes `json:"size"`
}

// wireRows are rows of the run directory, with the names of their objects.
type wireRows struct {
	Flows   []trace.Flow  `json:"flows,omitempty"`
	Points  []trace.Point `json:"points,omitempty"`
	Events  []trace.Event `json:"events,omitempty"`
	Objects []string      `json:"objects,omitempty"` // by number, from 1
}

// wireResult is what an agent has counted.
type wireResult struct {
	End      sim.Time            `json:"end"`
	Counters []trace.Counter     `json:"counters"`
	Devices  trace.DevicesFile   `json:"devices"`
	Checks   []trace.Check       `json:"checks"`
	Deltas   []map[string]int64  `json:"deltas"` // of the devices
	Faults   map[string][3]int64 `json:"faults"` // acted on, passed, dropped
	Sent     []int64             `json:"sent"`   // by unreliable services, by host
	Arrived  []int64             `json:"arrived"`
	Payload  int64               `json:"payload"`
	Reliable bool                `json:"reliable"`
	Stopped  string              `json:"stopped,omitempty"` // why it ended early, of its own accord
}

// maxLine bounds a line.
const maxLine = 64 << 20

// link is one end of a conversation.
type link struct {
	in    chan message
	mu    sync.Mutex
	enc   *json.Encoder
	err   error // why in was closed
	began time.Time
	heard atomic.Int64 // when the latest message came, in ns since it began
}

// newLink reads messages in a goroutine of its own until the other end closes.
// That goroutine calls alive for renewals of a lease; all others come through in.
func newLink(r io.Reader, w io.Writer, alive func(*link, message)) *link {
	l := &link{in: make(chan message, 256), enc: json.NewEncoder(w), began: time.Now()}
	go func() {
		defer close(l.in)
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 64<<10), maxLine)
		for sc.Scan() {
			m, err := parseMessage(sc.Bytes())
			if err != nil {
				l.err = err
				return
			}
			l.heard.Store(time.Since(l.began).Nanoseconds())
			if m.Kind == kindAlive {
				if alive != nil {
					alive(l, m)
				}
				continue
			}
			l.in <- m
		}
		l.err = sc.Err()
	}()
	return l
}

// silence is how long nothing has been heard.
func (l *link) silence() time.Duration {
	return time.Since(l.began) - time.Duration(l.heard.Load())
}

// parseMessage reads a line.
func parseMessage(b []byte) (m message, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("not a message of an agent: %.80q: %w", b, err)
	}
	if m.Kind == "" {
		return m, fmt.Errorf("not a message of an agent: %.80q", b)
	}
	return m, nil
}

// send writes a message.
func (l *link) send(m message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enc.Encode(m)
}

// errClosed is the end of a conversation in good order.
var errClosed = errors.New("the other end has closed")

// errGone is the error of a conversation whose other end has closed.
func (l *link) errGone() error {
	if l.err != nil {
		return l.err
	}
	return errClosed
}
