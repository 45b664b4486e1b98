package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// messageBits of an ID number the messages of one host; what is above numbers the host.
const messageBits = 40

// MessageID numbers message n of host node, n from 1 on, so that no two messages
// of a run have the same number.
func MessageID(node int, n uint64) uint64 {
	return uint64(node)<<messageBits | n&(1<<messageBits-1)
}

// MessageName is what people call a message: its sender and which of the
// sender's messages it is, such as h6#7.
func MessageName(src string, id uint64) string {
	return src + "#" + strconv.FormatUint(id&(1<<messageBits-1), 10)
}

// Name is what people call the message.
func (f *Flow) Name() string { return MessageName(f.Src, f.ID) }

// Message selects one message of a run, by the name that people use or by its ID.
type Message struct {
	ID   uint64 // 0: by name
	Name string
}

// ParseMessage reads what names a message: h6#7, or its ID in flows.csv.
func ParseMessage(text string) (Message, error) {
	if id, err := strconv.ParseUint(text, 10, 64); err == nil && id > 0 {
		return Message{ID: id}, nil
	}
	host, number, ok := strings.Cut(text, "#")
	if n, err := strconv.ParseUint(number, 10, messageBits); ok && host != "" && err == nil && n > 0 {
		return Message{Name: MessageName(host, n)}, nil
	}
	return Message{}, fmt.Errorf("%q: want a message such as h6#7, the seventh of host h6, or its id in %s", text, FileFlows)
}

// Is says whether a row is that of the message.
func (m Message) Is(f *Flow) bool {
	if m.ID != 0 {
		return f.ID == m.ID
	}
	return f.Name() == m.Name
}

// String is the name, or the number where it was given by number.
func (m Message) String() string {
	if m.ID != 0 {
		return strconv.FormatUint(m.ID, 10)
	}
	return m.Name
}
