package workshop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/query"
)

// alertsFor is how old an alert may be when an issue is opened for it: what was wrong with a vehicle before that has
// been seen to, or never will be. It is longer than all processes may be down.
const alertsFor = 7 * 24 * time.Hour

// alerts has issues follow from alerts whose rules want them.
func (d *Workshop) alerts() {
	d.AddDuty("issues of alerts", 15*time.Second, d.openIssues)
}

// openIssues opens the issues that alerts want and that are not there yet. The alert names its issue, so that it is
// opened once, by however many processes; what has become of it since is left as it is, and so it is if it turns out
// that there was no reason for the alert.
func (d *Workshop) openIssues(ctx context.Context) error {
	alerts, err := query.AlertsForIssues(ctx, d.DB, d.Now().Add(-alertsFor))
	if err != nil {
		return err
	}
	wanted := map[fleet.AccountID][]uint64{}
	for i := range alerts {
		wanted[alerts[i].Account] = append(wanted[alerts[i].Account], issueOf(&alerts[i]))
	}
	opened := map[fleet.AccountID]map[uint64]query.Stored{}
	for account, ids := range wanted {
		if opened[account], err = query.RecordsByID(ctx, d.DB, &query.Issues, account, ids); err != nil {
			return err
		}
	}
	return base.Each(ctx, alerts, func(a query.VehicleAlert) error {
		id := issueOf(&a)
		if _, there := opened[a.Account][id]; there {
			return nil
		}
		if v, err := d.Vehicles.Get(ctx, a.Account, uint64(a.Vehicle)); err != nil || v.Archived() {
			if fleet.CodeOf(err) == fleet.CodeNotFound {
				err = nil
			}
			return err
		}
		_, _, err := d.Issues.Create(ctx, record.System, a.Account, id, issueFor(&a, d.Now()))
		return err
	})
}

// issueOf names the issue of an alert.
func issueOf(a *query.VehicleAlert) uint64 {
	return fleet.DerivedID("alert issue", a.VehicleKey, a.Start, a.ID)
}

// issueSeverity is how bad the issue of an alert is. Whether the vehicle is unsafe is for people to say: then
// nobody gets it.
var issueSeverity = map[string]string{fleet.SeverityInfo: "low", fleet.SeverityWarning: "medium",
	fleet.SeverityCritical: "high"}

// issueFor is the issue of an alert.
func issueFor(a *query.VehicleAlert, now time.Time) record.Issue {
	i := record.Issue{Status: rental.IssueOpen, StatusSince: record.InstantOf(now),
		AlertID: fleet.FormatID(a.Kind().Prefix(), a.ID)}
	i.VehicleID, i.ReportedBy, i.Category =
		fleet.FormatID(fleet.VehiclePrefix, uint64(a.Vehicle)), "telematics", "telematics"
	i.Severity, i.Description = issueSeverity[a.Severity], strings.ReplaceAll(string(a.What), "_", " ")
	if i.Severity == "" {
		i.Severity = "medium"
	}
	if a.Subject != "" {
		i.Description += ": " + a.Subject
	}
	if a.Value != nil && a.Threshold != nil {
		i.Description += fmt.Sprintf(": %.4g %s, and %.4g is the limit", *a.Value, a.What.Unit(), *a.Threshold)
	}
	if a.What == fleet.AlertFaultCode && a.Subject != "" {
		i.FaultCodes = []string{a.Subject}
	}
	return i
}
