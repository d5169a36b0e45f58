package csvrow

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestRowsAreThoseOfASpreadsheet(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\n3,4\n":                         "1:a 2:1 3:3",
		"a,b\r\n1,2\r\n\r\n3,4":                   "1:a 2:1 4:3",
		"\n\na\n\n\nb\n":                          "3:a 6:b",
		"a,b\nx,\"1\n2\n\n3\"\ny,\"1\r\n2\"\nz,1": "1:a 2:x 3:y 4:z",
		"\"a\nb\",c\n\n\"\",\"\n\"\n1,2\n":        "1:a\nb 3: 4:1",
		"a\n\"b\nc":                               "1:a 2:!",
		"":                                        "",
	} {
		r := New(csv.NewReader(strings.NewReader(text)))
		r.FieldsPerRecord = -1
		var got []string
		for {
			cells, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				got = append(got, fmt.Sprintf("%d:!", r.Row()))
				break
			}
			got = append(got, fmt.Sprintf("%d:%s", r.Row(), cells[0]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
