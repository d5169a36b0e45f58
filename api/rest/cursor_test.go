package rest

import (
	"strings"
	"testing"
)

func FuzzCursor(f *testing.F) {
	f.Add(EncodeCursor(Cursor{After: []string{"a", "1"}, Page: 2, List: "/v1/vehicles?"}))
	f.Add("e30")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := DecodeCursor(text)
		if err != nil {
			return
		}
		again, err := DecodeCursor(EncodeCursor(c))
		if err != nil || again.Page != c.Page || strings.Join(again.After, "\x00") != strings.Join(c.After, "\x00") {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
	})
}
