package pdf

import (
	"strings"
	"sync"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"

	"github.com/motorpool/fleet/api/rental/paperwork"
)

// drawn are the letters that the font has.
var drawn = sync.OnceValue(func() map[rune]bool {
	font, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(err) // it is part of the program
	}
	all := map[rune]bool{'\n': true, ' ': true}
	var buffer sfnt.Buffer
	for r := rune(' '); r <= 0xffff; r++ {
		if i, err := font.GlyphIndex(&buffer, r); err == nil && i != 0 {
			all[r] = true
		}
	}
	return all
})

// fit writes a text in the letters that the font has: one that it lacks by what it is made of, as a letter without its
// accent, and if that is lacking too by a question mark. The record has every letter.
func fit(text string) string {
	var out strings.Builder
	has := drawn()
	for _, r := range norm.NFC.String(paperwork.Clean(text)) {
		if has[r] {
			out.WriteRune(r)
			continue
		}
		some := false
		for _, part := range norm.NFKD.String(string(r)) {
			if has[part] {
				out.WriteRune(part)
				some = true
			}
		}
		if !some {
			out.WriteByte('?')
		}
	}
	return out.String()
}
