package sim

// Messages between groups. While a window runs, a worker writes what its nodes
// send into one mailbox per receiving group; in the next window the group's
// worker reads it. Mailboxes are lists of small bundles, so that they take
// little more memory than what is on its way, and a receiver reads all that
// arrives from one worker in one pass.

// letter is a message on its way to another group.
type letter[M any] struct {
	at  Time
	key uint64 // of its event
	to  int32  // node within the group
	m   M
}

// bundleLetters makes a bundle of letters with messages of 56 bytes fill half a
// kibibyte.
const bundleLetters = 6

// bundle is a piece of a mailbox.
type bundle[M any] struct {
	next    *bundle[M] // first, so that the garbage collector looks no further
	n       int
	letters [bundleLetters]letter[M]
}

// mailbox is a list of bundles in the order in which they were written.
type mailbox[M any] struct{ first, last *bundle[M] }

// join moves all bundles of o to the end of b.
func (b *mailbox[M]) join(o *mailbox[M]) {
	if b.last == nil {
		*b = *o
	} else if o.first != nil {
		b.last.next, b.last = o.first, o.last
	}
	*o = mailbox[M]{}
}

// post is the mail of one worker.
type post[M any] struct {
	// out[p][g] is what this worker's nodes sent to group g in windows of
	// parity p.
	out [2][]mailbox[M]
	// read[p][v] are bundles of worker v that this worker has read in windows
	// of parity p; v takes them back in the window after.
	read  [2][]mailbox[M]
	empty *bundle[M]
}

func (p *post[M]) init(groups, workers int) {
	for i := range p.out {
		p.out[i], p.read[i] = make([]mailbox[M], groups), make([]mailbox[M], workers)
	}
}

// write returns the place of the next letter to a group.
func (p *post[M]) write(parity int, group int32) *letter[M] {
	box := &p.out[parity][group]
	b := box.last
	if b == nil || b.n == bundleLetters {
		b = p.empty
		if b == nil {
			b = new(bundle[M])
		} else {
			p.empty, b.next, b.n = b.next, nil, 0
		}
		if box.last == nil {
			box.first = b
		} else {
			box.last.next = b
		}
		box.last = b
	}
	b.n++
	return &b.letters[b.n-1]
}

// reclaim takes back the bundles that others have read.
func (p *post[M]) reclaim(read *mailbox[M]) {
	if read.first != nil {
		read.last.next, p.empty = p.empty, read.first
		*read = mailbox[M]{}
	}
}

// collect takes over what every worker has sent to a group in the window before.
func (w *worker[M]) collect(g *group[M], all []*worker[M]) {
	for _, v := range all {
		box := &v.post.out[1-w.parity][g.index]
		if box.first == nil {
			continue
		}
		for b := box.first; b != nil; b = b.next {
			for i := range b.letters[:b.n] {
				l := &b.letters[i]
				slot := w.take()
				*w.at(slot) = l.m
				g.insert(l.at, l.key, l.to, uint64(slot))
			}
		}
		if v == w {
			w.post.reclaim(box)
		} else {
			w.post.read[w.parity][v.id].join(box)
		}
	}
}
