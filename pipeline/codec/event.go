package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/motorpool/fleet"
)

// AppendEvent appends an event as encoding/json writes it, at a fraction of the cost; there are several to a trip and to a visit.
// Its body must be valid JSON as encoding/json writes it, or empty.
func AppendEvent(dst []byte, e *fleet.Event) []byte {
	dst = append(strconv.AppendUint(append(dst, `{"id":"`...), e.ID, 10), '"')
	dst = appendName(append(dst, `,"type":`...), e.Type)
	dst = append(strconv.AppendUint(append(dst, `,"account":"`...), uint64(e.Account), 10), '"')
	if e.Vehicle != 0 {
		dst = append(strconv.AppendUint(append(dst, `,"vehicle":"`...), uint64(e.Vehicle), 10), '"')
	}
	dst = strconv.AppendInt(append(dst, `,"at_ms":`...), int64(e.At), 10)
	dst = strconv.AppendBool(append(dst, `,"late":`...), e.Late)
	dst = appendName(append(dst, `,"kind":`...), string(e.Kind))
	dst = append(strconv.AppendUint(append(dst, `,"object":"`...), e.Object, 10), '"')
	dst = strconv.AppendUint(append(dst, `,"revision":`...), uint64(e.Revision), 10)
	dst = append(dst, `,"body":`...)
	if len(e.Body) == 0 {
		return append(dst, `null}`...)
	}
	return append(append(dst, e.Body...), '}')
}

// appendName appends a JSON string.
func appendName(dst []byte, name string) []byte {
	for i := range len(name) {
		if !plain(name[i]) {
			text, _ := json.Marshal(name) // a string cannot fail
			return append(dst, text...)
		}
	}
	return append(append(append(dst, '"'), name...), '"')
}

// plain says whether a byte of a string stands for itself in JSON, however that is written.
func plain(c byte) bool {
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

// ParseEvent reads an event. What AppendEvent has written is read faster than other JSON. Body is part of text.
func ParseEvent(text []byte) (fleet.Event, error) {
	if e, ok := parseAppended(text); ok {
		return e, nil
	}
	var e fleet.Event
	err := json.Unmarshal(text, &e)
	return e, err
}

// parseAppended reads what AppendEvent writes, and says whether it was that.
func parseAppended(text []byte) (e fleet.Event, ok bool) {
	p := eventParser{rest: text, ok: true}
	e.ID = p.quoted(`{"id":"`)
	e.Type = p.name(`,"type":"`)
	e.Account = fleet.AccountID(p.quoted(`,"account":"`))
	if bytes.HasPrefix(p.rest, []byte(`,"vehicle"`)) {
		e.Vehicle = fleet.VehicleID(p.quoted(`,"vehicle":"`))
	}
	e.At = fleet.Millis(p.number(`,"at_ms":`, 1<<62))
	e.Late = p.truth(`,"late":`)
	e.Kind = fleet.Kind(p.name(`,"kind":"`))
	e.Object = p.quoted(`,"object":"`)
	e.Revision = uint32(p.number(`,"revision":`, 1<<32-1))
	p.skip(`,"body":`)
	n := len(p.rest) - 1
	if !p.ok || n < 1 || p.rest[n] != '}' || p.rest[0] <= ' ' || p.rest[n-1] <= ' ' || !json.Valid(p.rest[:n]) {
		return fleet.Event{}, false
	}
	e.Body = p.rest[:n:n]
	return e, true
}

// ParseChange reads a change. Inputs at its end, which are most of it, are read faster than by encoding/json; all else is as there.
func ParseChange(text []byte) (fleet.Change, error) {
	var c fleet.Change
	head, packed, _ := bytes.Cut(text, []byte(`,"inputs":"`))
	if packed, found := bytes.CutSuffix(packed, []byte(`"}`)); found && !bytes.ContainsAny(packed, "\r\n") {
		inputs := make([]byte, base64.StdEncoding.DecodedLen(len(packed)))
		n, err := base64.StdEncoding.Decode(inputs, packed)
		if err == nil && json.Unmarshal(append(head[:len(head):len(head)], '}'), &c) == nil && c.Account != 0 {
			c.Inputs = inputs[:n]
			return c, nil
		}
		c = fleet.Change{}
	}
	err := json.Unmarshal(text, &c)
	return c, err
}

// eventParser reads the members of an event one after the other; ok ends with the first that is not as it is wanted.
type eventParser struct {
	rest []byte
	ok   bool
}

// skip goes over what must come next.
func (p *eventParser) skip(what string) {
	if p.ok = p.ok && len(p.rest) >= len(what) && string(p.rest[:len(what)]) == what; p.ok {
		p.rest = p.rest[len(what):]
	}
}

// number reads digits after what must come next, up to a limit, without leading zeros.
func (p *eventParser) number(what string, limit uint64) uint64 {
	p.skip(what)
	n, digits := uint64(0), 0
	for p.ok && digits < len(p.rest) && p.rest[digits] >= '0' && p.rest[digits] <= '9' {
		d := uint64(p.rest[digits] - '0')
		if p.ok = n <= (limit-d)/10; !p.ok {
			return 0
		}
		n = n*10 + d
		digits++
	}
	if p.ok = p.ok && digits > 0 && (digits == 1 || p.rest[0] != '0'); !p.ok {
		return 0
	}
	p.rest = p.rest[digits:]
	return n
}

// quoted reads a number in quotes; what ends with the first of these.
func (p *eventParser) quoted(what string) uint64 {
	n := p.number(what, 1<<64-1)
	p.skip(`"`)
	return n
}

// name reads a string that needs no escapes; what ends with its first quote.
func (p *eventParser) name(what string) string {
	p.skip(what)
	n := 0
	for p.ok && n < len(p.rest) && plain(p.rest[n]) {
		n++
	}
	if !p.ok {
		return ""
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	p.skip(`"`)
	return string(name)
}

func (p *eventParser) truth(what string) bool {
	p.skip(what)
	if p.ok && bytes.HasPrefix(p.rest, []byte("true")) {
		p.skip("true")
		return true
	}
	p.skip("false")
	return false
}
