package record

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/motorpool/fleet"
)

// DriverTagFields are what callers write of a key, card or tag by which drivers log in.
type DriverTagFields struct {
	Tag     string      `json:"tag" minLength:"1" maxLength:"128" doc:"As the tracker reads it. Kept in capitals, without spaces, colons and hyphens; unique within the account." example:"1A0000011D2A5C01"`
	Medium  string      `json:"medium,omitempty" enum:"ibutton,rfid,card,bluetooth,phone,code,other" doc:"What it is on."`
	Label   string      `json:"label,omitempty" maxLength:"100" doc:"What is written on it." example:"Key 14"`
	Holders []TagHolder `json:"holders,omitempty" maxItems:"200" nullable:"false" doc:"Whose it is and was. The spans of two do not overlap."`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50" doc:"Yours to use; at most 50 members."`
}

// TagHolder is whose a tag is during a span.
type TagHolder struct {
	DriverID string  `json:"driver_id" minLength:"1" maxLength:"40" doc:"A customer; staff who drive and rent nothing are customers too." example:"cus_1234"`
	From     Instant `json:"from,omitzero" doc:"Inclusive; null for as long as there is data. Trips of then show the driver at once."`
	Until    Instant `json:"until,omitzero" doc:"Exclusive; null while it goes on."`
}

// DriverTag is a tag as it is stored.
type DriverTag struct{ DriverTagFields }

// DriverTags describes the kind; the tag is unique in an account, and so is an external reference.
var DriverTags = Kind[DriverTag]{
	Name: "driver_tag", Prefix: fleet.DriverTagPrefix,
	Claims: func(t *DriverTag) []Claim {
		refs := refClaims("driver_tag", t.ExternalRefs)
		if t.Tag == "" {
			return refs
		}
		return append(refs, Claim{Field: "driver_tag.tag", Value: t.Tag, Says: "/tag"})
	},
}

// Complete brings the tag into the form in which trackers' reports are kept.
func (t *DriverTagFields) Complete() { t.Tag = fleet.DriverTag(t.Tag) }

// Faults says what of a tag is not acceptable beyond what its schema says.
func (t *DriverTagFields) Faults() (faults []fleet.FieldError) {
	if t.Tag == "" || t.Tag == fleet.NoDriver {
		faults = append(faults, fleet.FieldError{Pointer: "/tag", Code: "invalid",
			Detail: "must have letters or digits, and not zeros alone: these say that nobody is logged in"})
	}
	order := make([]int, len(t.Holders))
	for i := range t.Holders {
		order[i] = i
		if h := &t.Holders[i]; !h.Until.IsZero() && !h.Until.After(h.From.Time) {
			faults = append(faults,
				fleet.FieldError{Pointer: "/holders/" + strconv.Itoa(i) + "/until", Code: "invalid", Detail: "must be after from"})
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(t.Holders[a].From.UnixMilli(), t.Holders[b].From.UnixMilli())
	})
	for n := 1; n < len(order); n++ {
		if before := t.Holders[order[n-1]]; before.Until.IsZero() || before.Until.After(t.Holders[order[n]].From.Time) {
			faults = append(faults, fleet.FieldError{Pointer: "/holders/" + strconv.Itoa(order[n]) + "/from", Code: "overlap",
				Detail: "another holder has the tag then; a tag is one person's at a time"})
		}
	}
	return faults
}

// Spans gives the holders as spans of time.
func (t *DriverTagFields) Spans() []fleet.TagHolder {
	spans := make([]fleet.TagHolder, len(t.Holders))
	for i, h := range t.Holders {
		spans[i] = fleet.TagHolder{Driver: h.DriverID, From: millisOrZero(h.From), To: millisOrZero(h.Until)}
	}
	return spans
}

func millisOrZero(at Instant) fleet.Millis {
	if at.IsZero() {
		return 0
	}
	return fleet.MillisOf(at.Time)
}
