package record_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

func at(hour int) time.Time {
	if hour < 0 {
		return time.Time{}
	}
	return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
}

func TestAssignmentsOfADeviceNeverOverlap(t *testing.T) {
	type step struct {
		vehicle fleet.VehicleID // 0 takes the device off
		hour    int             // -1 is since ever
		fails   bool
	}
	tests := map[string]struct {
		steps []step
		want  string
	}{
		"first, since ever":           {[]step{{1, -1, false}}, "veh_1[-,-)"},
		"again on the same":           {[]step{{1, -1, false}, {1, 5, false}}, "veh_1[-,-)"},
		"moves to another":            {[]step{{1, -1, false}, {2, 5, false}}, "veh_1[-,5) veh_2[5,-)"},
		"off and on again":            {[]step{{1, 1, false}, {0, 3, false}, {1, 4, false}}, "veh_1[1,3) veh_1[4,-)"},
		"on again at the same moment": {[]step{{1, 1, false}, {0, 3, false}, {2, 3, false}}, "veh_1[1,3) veh_2[3,-)"},
		"into the past":               {[]step{{1, 5, false}, {2, 4, true}}, "veh_1[5,-)"},
		"at the same moment":          {[]step{{1, 5, false}, {2, 5, true}}, "veh_1[5,-)"},
		"into an ended one":           {[]step{{1, 1, false}, {0, 5, false}, {2, 4, true}}, "veh_1[1,5)"},
		"since ever, with a past":     {[]step{{1, 1, false}, {0, 5, false}, {2, -1, true}}, "veh_1[1,5)"},
		"off without being on":        {[]step{{0, 5, true}}, ""},
		"off before it began":         {[]step{{1, 5, false}, {0, 5, true}}, "veh_1[5,-)"},
	}
	for name, test := range tests {
		var d record.Device
		for i, s := range test.steps {
			kept := slices.Clone(d.Assignments)
			var err error
			if s.vehicle == 0 {
				err = d.Unassign(at(s.hour))
			} else {
				err = d.Assign(s.vehicle, at(s.hour))
			}
			if s.fails != (fleet.CodeOf(err) == fleet.CodeConflict) || !s.fails && err != nil {
				t.Errorf("%s: step %d: %v", name, i, err)
			}
			if err != nil {
				d.Assignments = kept // as the log does with a refused change
			}
		}
		if got := show(d); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func show(d record.Device) string {
	var parts []string
	hour := func(i record.Instant) string {
		if i.IsZero() {
			return "-"
		}
		return i.Format("3")
	}
	for _, a := range d.Assignments {
		parts = append(parts, a.VehicleID+"["+hour(a.From)+","+hour(a.To)+")")
	}
	return strings.Join(parts, " ")
}
