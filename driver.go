package fleet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// NoDriver is the tag by which a tracker says that nobody is logged in.
const NoDriver = "0"

// maxTag is how many bytes a tag has at most, as it is written.
const maxTag = 128

// DriverTag gives the id of a key, card or Bluetooth tag as it is kept, however a reader writes it: in capitals,
// without spaces, colons and hyphens. Nothing but zeros is NoDriver. Empty is what is no tag.
func DriverTag(written string) string {
	if len(written) > maxTag || !utf8.ValidString(written) {
		return ""
	}
	tag := strings.Map(func(r rune) rune {
		if r == ':' || r == '-' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, written)
	if tag != "" && strings.Trim(tag, "0") == "" {
		return NoDriver
	}
	return tag
}

// TagReport says that a vehicle's tracker named a tag, or NoDriver.
type TagReport struct {
	Vehicle VehicleID
	At      Millis
	Tag     string
}

// TagHolder says whose a tag was during [From, To); To 0 has no end.
type TagHolder struct {
	Driver   string // the id of a customer
	From, To Millis
}

// Driven says that somebody drove a vehicle during [From, To). Driver is the id of a customer, a name, or
// empty for nobody.
type Driven struct {
	ID       uint64 // the highest of those that hold an instant is the one that counts
	Vehicle  VehicleID
	From, To Millis
	Driver   string
}
