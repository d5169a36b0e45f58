package codec

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/motorpool/fleet"
)

// maxDepth is how deep the JSON of a record may nest. Our own formats need five.
const maxDepth = 64

// scanner walks over one JSON text in a single pass. It builds no tree, so a record costs no more memory than its
// bytes, and it takes RFC 8259 strictly: no NaN, no leading zeros, no control characters in strings, nothing after the
// end. Strings outside of unique ids may hold bytes that are not UTF-8.
//
// The first fault stops it: fault then says what is wrong, and every later call returns quickly with nothing.
type scanner struct {
	data  []byte
	pos   int
	depth int
	fault string
	where int    // position of the fault
	plain []byte // the last string that had escapes, unescaped
}

// start begins a text; a UTF-8 byte order mark is skipped.
func (s *scanner) start(data []byte) {
	s.data, s.pos, s.depth, s.fault, s.where = data, 0, 0, "", 0
	if len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF {
		s.pos = 3
	}
}

// fail notes the first fault and moves to the end, so that all loops stop.
func (s *scanner) fail(what string) {
	if s.fault == "" {
		s.fault, s.where = what, s.pos
	}
	s.pos = len(s.data)
}

// peek returns the first byte of the next token, 0 at the end of the text.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.pos++
	}
	return 0
}

// end checks that nothing follows.
func (s *scanner) end() {
	s.peek()
	if s.pos < len(s.data) {
		s.fail("something follows the end of the JSON text")
	}
}

// open goes into the object or array that peek has shown.
func (s *scanner) open() {
	s.pos++
	if s.depth++; s.depth > maxDepth {
		s.fail("nested too deep")
	}
}

// more moves to the next member of an object or element of an array and says whether there is one. first is true before
// the first.
func (s *scanner) more(first bool, closing byte) bool {
	c := s.peek()
	if c == closing {
		s.pos++
		s.depth--
		return false
	}
	if !first {
		if c != ',' {
			s.fail("a comma or the end of an object or array is missing")
			return false
		}
		s.pos++
	}
	return s.fault == ""
}

// key reads the name of a member and the colon behind it. The bytes are good until the next string is read.
func (s *scanner) key() []byte {
	if s.peek() != '"' {
		s.fail("the name of a member is missing")
		return nil
	}
	name := s.str()
	if s.peek() != ':' {
		s.fail("the colon after the name of a member is missing")
		return nil
	}
	s.pos++
	return name
}

// str reads the string that peek has shown. The bytes are good until the next string is read.
func (s *scanner) str() []byte {
	begin := s.pos + 1
	for i := begin; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return s.data[begin:i]
		case c == '\\':
			return s.escaped(begin, i)
		case c < ' ':
			s.pos = i
			s.fail("a control character stands in a string")
			return nil
		}
	}
	s.fail("a string does not end")
	return nil
}

// escaped goes on with a string at its first escape.
func (s *scanner) escaped(begin, i int) []byte {
	out := append(s.plain[:0], s.data[begin:i]...)
	for i < len(s.data) {
		c := s.data[i]
		switch {
		case c == '"':
			s.pos = i + 1
			s.plain = out
			return out
		case c < ' ':
			s.pos = i
			s.fail("a control character stands in a string")
			return nil
		case c != '\\':
			out = append(out, c)
			i++
		case i+1 < len(s.data) && s.data[i+1] == 'u':
			r, ok := hex4(s.data, i+2)
			if !ok {
				s.pos = i
				s.fail("an escape in a string is none")
				return nil
			}
			i += 6
			if utf16.IsSurrogate(r) {
				low, paired := rune(0), false
				if i+1 < len(s.data) && s.data[i] == '\\' && s.data[i+1] == 'u' {
					low, paired = hex4(s.data, i+2)
				}
				if r = utf16.DecodeRune(r, low); paired && r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			var plain byte
			if i+1 < len(s.data) {
				plain = escapes[s.data[i+1]]
			}
			if plain == 0 {
				s.pos = i
				s.fail("an escape in a string is none")
				return nil
			}
			out = append(out, plain)
			i += 2
		}
	}
	s.fail("a string does not end")
	return nil
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func hex4(data []byte, at int) (rune, bool) {
	if at+4 > len(data) {
		return 0, false
	}
	var r rune
	for _, c := range data[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// word reads true, false or null.
func (s *scanner) word(word string) {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.fail("a value is none of JSON's")
		return
	}
	s.pos += len(word)
}

// skip passes over the next value, whatever it is.
func (s *scanner) skip() {
	switch s.peek() {
	case '{':
		s.open()
		for first := true; s.more(first, '}'); first = false {
			s.key()
			s.skip()
		}
	case '[':
		s.open()
		for first := true; s.more(first, ']'); first = false {
			s.skip()
		}
	case '"':
		s.str()
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}

// text reads a string; another value is passed over and is none.
func (s *scanner) text() ([]byte, bool) {
	if s.peek() != '"' {
		s.skip()
		return nil, false
	}
	return s.str(), s.fault == ""
}

// readTri reads true or false; another value is passed over and is Unknown.
func (s *scanner) readTri() fleet.Tri {
	switch s.peek() {
	case 't':
		s.word("true")
		return fleet.Yes
	case 'f':
		s.word("false")
		return fleet.No
	}
	s.skip()
	return fleet.Unknown
}

// float reads a number; another value is passed over and is NaN.
func (s *scanner) float() float64 {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.skip()
		return math.NaN()
	}
	return s.number()
}

// measure reads a number, or true and false as 1 and 0; another value is passed over and is NaN.
func (s *scanner) measure() float64 {
	switch s.peek() {
	case 't':
		s.word("true")
		return 1
	case 'f':
		s.word("false")
		return 0
	}
	return s.float()
}

// clock reads a time: RFC 3339, or a number of milliseconds since the epoch. Another value is passed over and is 0.
func (s *scanner) clock() fleet.Millis {
	if s.peek() == '"' {
		at, ok := parseClock(s.str())
		if ok && at == 0 {
			return 1 // the epoch itself, as fleet.MillisOf has it: zero is no time
		}
		return at
	}
	return millisOf(s.float())
}

// powers holds the powers of ten that a float64 represents exactly.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
	1e21, 1e22,
}

// number reads the number at the position. One that no float64 can hold, such as 1e999, is NaN.
func (s *scanner) number() float64 {
	data, i := s.data, s.pos
	negative := i < len(data) && data[i] == '-'
	if negative {
		i++
	}
	mantissa, begin := uint64(0), i
	for i < len(data) && data[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(data[i]-'0')
		i++
	}
	digits := i - begin
	if digits == 0 || digits > 1 && data[begin] == '0' {
		s.fail("a value is none of JSON's")
		return math.NaN()
	}
	exponent := 0
	if i < len(data) && data[i] == '.' {
		i++
		begin = i
		for i < len(data) && data[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(data[i]-'0')
			i++
		}
		exponent = begin - i
		digits -= exponent
		if exponent == 0 {
			s.fail("a number has no digits after its point")
			return math.NaN()
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		var ok bool
		if i, exponent, ok = power(data, i+1, exponent); !ok {
			s.fail("a number has no digits in its exponent")
			return math.NaN()
		}
	}
	begin, s.pos = s.pos, i
	// Both operands are exact, so one rounding gives the nearest float64 (Clinger 1990, the fast path).
	if digits <= 19 && mantissa < 1<<53 && -22 <= exponent && exponent <= 22 {
		v := float64(mantissa)
		if exponent < 0 {
			v /= powers[-exponent]
		} else {
			v *= powers[exponent]
		}
		if negative {
			v = -v
		}
		return v
	}
	v, err := strconv.ParseFloat(string(data[begin:i]), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// power reads the digits of an exponent at i and adds them to a decimal exponent.
func power(data []byte, i, exponent int) (int, int, bool) {
	negative := false
	if i < len(data) && (data[i] == '+' || data[i] == '-') {
		negative = data[i] == '-'
		i++
	}
	begin, e := i, 0
	for i < len(data) && data[i]-'0' <= 9 {
		e = min(e*10+int(data[i]-'0'), 1<<20) // more is only ever handed to strconv
		i++
	}
	if negative {
		e = -e
	}
	return i, exponent + e, i > begin
}
