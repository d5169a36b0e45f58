package api

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// Rules about a vehicle's health may have somebody look at it: one issue for each alert, whoever looks how often.
func TestAnAlertOpensAnIssueOnce(t *testing.T) {
	w := newLot(t)
	w.clock.Store(int64(time.Until(at(60).Time())))
	rule := func(body string) fleet.RuleID {
		id, err := fleet.ParseID(fleet.RulePrefix, w.do("POST", "/v1/alert_rules", `{"name":"A",`+body+`}`).ok(201).id())
		if err != nil {
			t.Fatal(err)
		}
		return fleet.RuleID(id)
	}
	faults, quiet, volts := rule(`"kind":"fault_code","open_issue":true`), rule(`"kind":"fault_code"`),
		rule(`"kind":"voltage_low","severity":"critical","open_issue":true`)
	wantEqual(t, "of another kind",
		w.do("POST", "/v1/alert_rules", `{"name":"A","kind":"speeding","open_issue":true}`).faults(), "/open_issue")
	raised := func(minutes float64, rule fleet.RuleID, revision uint64, kind fleet.AlertKind,
		severity, subject string) *fleet.Alert {
		return &fleet.Alert{Head: head(minutes, minutes+1, false), Rule: rule, RuleRevision: revision, What: kind,
			Severity: severity, Subject: subject, ResolvedReason: "moment"}
	}
	low := raised(3, volts, 1, fleet.AlertVoltageLow, "critical", "")
	low.Value, low.Threshold = of(11.4), of(11.8)
	gone := w.vehicle(`{"make":"A","model":"Gone"}`)
	w.derive(w.account, row{vehicle: w.car, entity: raised(1, faults, 1, fleet.AlertFaultCode, "warning", "fault")},
		row{vehicle: w.car, entity: raised(2, quiet, 1, fleet.AlertFaultCode, "warning", "fault")},
		row{vehicle: w.car, entity: low},
		row{vehicle: w.car, entity: raised(4, faults, 1, fleet.AlertFaultCode, "warning", "fault"), deleted: true},
		row{vehicle: w.car, entity: raised(-11*24*60, faults, 1, fleet.AlertFaultCode, "warning", "fault")},
		row{vehicle: gone, entity: raised(5, faults, 1, fleet.AlertFaultCode, "warning", "fault")})
	w.do("DELETE", "/v1/vehicles/"+gone, "").ok(204)
	said := func() (all []string) {
		for _, i := range w.do("GET", "/v1/maintenance/issues?per_page=100", "").data() {
			all = append(all, fmt.Sprintf("%v %v %v %v %v %v", i["vehicle_id"] == w.car, i["severity"], i["description"],
				i["fault_codes"], i["status"], i["reported_by"]))
			w.do("GET", "/v1/alerts/"+i["alert_id"].(string), "").ok(200)
		}
		slices.Sort(all)
		return all
	}
	doDuty(t, w, "issues of alerts")
	want := []string{"true high voltage low: 11.4 V, and 11.8 is the limit [] open telematics",
		"true medium fault code: fault [fault] open telematics"}
	wantEqual(t, "opened", said(), want)
	first := w.do("GET", "/v1/maintenance/issues?severity=high", "").data()[0]["id"].(string)
	w.do("POST", "/v1/maintenance/issues/"+first+"/resolve", `{"resolution":"new battery"}`).ok(200)
	// The rule does not want it any more; what it found while it did stays so.
	w.do("PATCH", "/v1/alert_rules/"+fleet.FormatID(fleet.RulePrefix, uint64(faults)), `{"open_issue":false}`).ok(200)
	w.derive(w.account, row{vehicle: w.car, entity: raised(6, faults, 2, fleet.AlertFaultCode, "warning", "fault")},
		row{vehicle: w.car, entity: raised(7, faults, 1, fleet.AlertFaultCode, "warning", "lowPower")})
	doDuty(t, w, "issues of alerts")
	doDuty(t, w, "issues of alerts")
	want[0] = "true high voltage low: 11.4 V, and 11.8 is the limit [] resolved telematics"
	wantEqual(t, "afterwards", said(), append(want, "true medium fault code: lowPower [lowPower] open telematics"))
}
