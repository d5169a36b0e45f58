package api

import (
	"bytes"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/export"
)

// The columns of every table are as many as the values of its rows, and named once.
func TestFlatRowsFitTheirColumns(t *testing.T) {
	for _, view := range []any{Trip{}, Stop{}, ChargingSession{}, ChargingSession{Place: &Place{}}, Visit{}, Visit{ExitPlace: &Place{}}, DrivingEvent{}, Alert{}} {
		columns := flatColumns(view, true)
		if row := flatRow(nil, view, true); len(row) != len(columns) {
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
		if err := table.Write(flatRow(nil, view, false)); err != nil {
			t.Error(err)
		}
	}
}
