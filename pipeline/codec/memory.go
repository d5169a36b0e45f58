package codec

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/motorpool/fleet"
)

// maxIDBytes is the longest unique id, after trimming.
const maxIDBytes = 128

// Bounds of what an interner remembers: ids, and the length of one as it is written. Longer ones are rare, and letting
// them in would let a stranger fill the memory.
const (
	maxNames     = 1 << 17
	maxNameBytes = 48
)

// interner keeps one string for every unique id it has seen lately, so that a fix of a known device needs no new one.
type interner struct {
	names map[string]string // as written in the record -> trimmed
}

// bytes returns the unique id in text, as add does.
func (n *interner) bytes(text []byte) string {
	if len(text) > 2*maxIDBytes {
		return ""
	}
	if name, ok := n.names[string(text)]; ok {
		return name
	}
	return n.add(string(text))
}

// text is bytes for a string whose memory will be used for something else.
func (n *interner) text(text string) string {
	if len(text) > 2*maxIDBytes {
		return ""
	}
	if name, ok := n.names[text]; ok {
		return name
	}
	return n.add(strings.Clone(text))
}

// add returns the unique id in a text, trimmed, or nothing if it is none: empty, longer than maxIDBytes, not UTF-8, or
// with characters that cannot be printed.
func (n *interner) add(written string) string {
	name := strings.TrimSpace(written)
	if name == "" || len(name) > maxIDBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable) {
		return ""
	}
	if len(written) > maxNameBytes {
		return name
	}
	// Starting over is cheaper than keeping an order of use, and happens only to who invents ids.
	if n.names == nil || len(n.names) >= maxNames {
		n.names = make(map[string]string, 64)
	}
	n.names[written] = name
	return name
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// arenaChunk is the number of signal values in one piece of an arena: far above what one report can hold.
const arenaChunk = 4096

// arena holds the signals of reports in large pieces that are used again after reset. Between open and close it
// collects the signals of one report.
type arena struct {
	chunks [][]fleet.SignalValue // each of capacity arenaChunk
	used   int                   // chunks in use; the last of them is the one being filled
	start  int                   // where the open report begins in the last chunk

	// Which of the open report's values a signal has: slot is good where mark equals round.
	round uint32
	mark  [len(fleet.Signals)]uint32
	slot  [len(fleet.Signals)]int
}

// reset takes all memory back.
func (a *arena) reset() {
	for i := range a.chunks[:a.used] {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.used = 0
}

// open begins the signals of a report. A report that was not closed leaves nothing behind.
func (a *arena) open() {
	if a.used == 0 || arenaChunk-len(a.chunks[a.used-1]) < len(fleet.Signals) {
		if a.used == len(a.chunks) {
			a.chunks = append(a.chunks, make([]fleet.SignalValue, 0, arenaChunk))
		}
		a.used++
	}
	a.start = len(a.chunks[a.used-1])
	a.round++
	if a.round == 0 { // wrapped: old marks would look new
		a.mark = [len(fleet.Signals)]uint32{}
		a.round = 1
	}
}

// add notes a value; of several for one signal the last counts.
func (a *arena) add(s fleet.Signal, v float64) {
	chunk := &a.chunks[a.used-1]
	if a.mark[s] == a.round {
		(*chunk)[a.slot[s]].Value = v
		return
	}
	a.mark[s] = a.round
	a.slot[s] = len(*chunk)
	*chunk = append(*chunk, fleet.SignalValue{Signal: s, Value: v})
}

// close returns the signals of the report, nil if there are none.
func (a *arena) close() []fleet.SignalValue {
	chunk := a.chunks[a.used-1]
	if len(chunk) == a.start {
		return nil
	}
	return chunk[a.start:len(chunk):len(chunk)]
}
