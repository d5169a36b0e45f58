package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/audit"
	"github.com/motorpool/fleet/query"
)

// booksShown is how many drifts of a check the doctor tells.
const booksShown = 10

// examineBooks looks through the books of all accounts, and repairs them if it is told to.
func examineBooks(ctx context.Context, s settings, repair bool, log io.Writer) ([]finding, error) {
	config := s.store()
	db, err := query.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := refuseUnfinished(ctx, db, config.Database); err != nil {
		return nil, err
	}
	node := fleet.LeasedNodes + rand.Uint64N(fleet.Nodes-fleet.LeasedNodes) // as newIDs
	d, err := openDesk(db, node, time.Now, s.logger(log))
	if err != nil {
		return nil, err
	}
	drifts, err := d.Audit.Look(ctx)
	if err != nil {
		found := booksFindings(drifts, nil, false)
		return slices.DeleteFunc(found, func(f finding) bool { return f.OK }), err
	}
	repaired := map[string]int{}
	if repair && len(drifts) > 0 {
		for _, drift := range drifts {
			repaired[drift.Check]++
		}
		if drifts, err = d.Audit.Repair(ctx, drifts); err != nil {
			return nil, err
		}
	}
	return booksFindings(drifts, repaired, repair), nil
}

// booksFindings says what each check has found and what was repaired of it.
func booksFindings(drifts []audit.Drift, repaired map[string]int, repair bool) []finding {
	advice := "'" + audit.RepairCommand + "' makes it again from what never changes"
	if repair {
		advice = "it could not be made again: report it; what lies behind another drift goes with the next repair"
	}
	findings := make([]finding, 0, len(audit.Checks))
	for _, check := range audit.Checks {
		var all []string
		for _, drift := range drifts {
			if drift.Check == check {
				all = append(all, drift.String())
			}
		}
		detail := fmt.Sprintf("%d differences %s", len(all), strings.Join(all[:min(len(all), booksShown)], "; "))
		if n := repaired[check]; n > len(all) {
			detail += fmt.Sprintf(" (%d were repaired)", n-len(all))
		}
		findings = append(findings, judge("books: "+check, len(all) == 0, strings.TrimSpace(detail), advice))
	}
	return findings
}
