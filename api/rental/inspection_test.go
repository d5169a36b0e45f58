package rental

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Only a draft is submitted, and only one that is signed and looked at something; what is refused stays as it is.
func TestSubmittingAnInspection(t *testing.T) {
	at := record.InstantOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	item := []record.InspectionItem{{Point: "lights", Result: "pass"}}
	for _, status := range InspectionStates {
		for _, c := range []struct {
			signed  string
			items   []record.InspectionItem
			missing []string
		}{
			{"A", item, nil}, {"", item, []string{"/signed_by"}}, {"A", nil, []string{"/items"}},
			{"", nil, []string{"/signed_by", "/items"}},
		} {
			i := record.VehicleInspection{Status: status,
				InspectionFields: record.InspectionFields{SignedBy: c.signed, Items: c.items}}
			err := SubmitInspection(1, &i, at)
			moved, unmoved := i.Status == "submitted" && i.StatusSince == at && i.SubmittedAt == at, i.Status == status &&
				i.SubmittedAt.IsZero()
			refused, isRefusal := errors.AsType[*record.TransitionError](err)
			incomplete, _ := errors.AsType[*fleet.Error](err)
			var pointers []string
			if incomplete != nil {
				for _, f := range incomplete.Fields {
					pointers = append(pointers, f.Pointer)
				}
			}
			switch {
			case status != "draft":
				if !isRefusal || !unmoved || refused.Current != status || refused.Allowed == nil || len(refused.Allowed) > 0 {
					t.Errorf("a %s one: %v", status, err)
				}
			case c.missing == nil:
				if err != nil || !moved {
					t.Errorf("a whole one: %v, %+v", err, i)
				}
			case fleet.CodeOf(err) != fleet.CodeValidation || !slices.Equal(pointers, c.missing) || !unmoved:
				t.Errorf("without %v: %v", c.missing, err)
			}
		}
	}
}

// Every item that failed is an issue of its vehicle, and no other.
func TestWhatAnInspectionFinds(t *testing.T) {
	at := record.InstantOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	i := record.VehicleInspection{Status: InspectionSubmitted, SubmittedAt: at,
		InspectionFields: record.InspectionFields{VehicleID: "veh_2", BookingID: "bkg_3", SignedBy: "A",
			Items: []record.InspectionItem{{Point: "lights", Result: "pass", Severity: "high"},
				{Point: "brakes", Result: "fail", Note: "worn", Photos: []string{"p"}, Severity: "safety_critical"},
				{Point: "tow bar", Result: "na"}, {Point: "mirror", Result: "fail"}}}}
	found := FoundIn(9, &i)
	if len(found) != 2 || found[0].Description != "brakes: worn" || found[0].Severity != "safety_critical" ||
		!slices.Equal(found[0].Photos, []string{"p"}) || found[1].Description != "mirror" || found[1].Severity != "medium" ||
		found[1].Photos != nil {
		t.Errorf("%+v", found)
	}
	for _, f := range found {
		if f.VehicleID != "veh_2" || f.BookingID != "bkg_3" || f.ReportedBy != "A" || f.Category != "inspection" ||
			f.InspectionID != "ins_9" || f.Status != IssueOpen || f.StatusSince != at {
			t.Errorf("%+v", f)
		}
	}
}
