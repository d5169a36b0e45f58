package track

import (
	"bytes"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/rest"
)

// The columns of every table are as many as the values of its rows, and named once.
func TestFlatRowsFitTheirColumns(t *testing.T) {
	for _, view := range []any{Trip{}, Stop{}, ChargingSession{}, ChargingSession{Place: &rest.Place{}}, Visit{},
		Visit{ExitPlace: &rest.Place{}}, DrivingEvent{}, Alert{}} {
		columns := rest.FlatColumns(view, true)
		if row := rest.FlatRow(nil, view, true); len(row) != len(columns) {
			t.Errorf("%T: %d values in %d columns", view, len(row), len(columns))
		}
		seen := map[string]bool{}
		for _, c := range columns {
			if seen[c.Name] || c.Name == "" || strings.HasSuffix(c.Name, "_mi") {
				t.Errorf("%T: column %q", view, c.Name)
			}
			seen[c.Name] = true
		}
		var out bytes.Buffer
		table, err := export.NewTable(export.Parquet, &out, columns)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Write(rest.FlatRow(nil, view, false)); err != nil {
			t.Error(err)
		}
	}
}
