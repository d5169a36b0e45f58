package track

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// Who asks who drove waits no longer than a moment for memory that does not come: everything is asked then.
func TestWhoDroveIsAskedForWithoutAMemoryThatDoesNotCome(t *testing.T) {
	kept, err := roster.New(roster.DefaultConfig(), nil, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a := &API{Server: &rest.Server{Deps: rest.Deps{Roster: kept}}}
	a.drivers = roster.NewFacts(nil, roster.OfDrivers, time.Now, func(ctx context.Context, _ fleet.AccountID, _ []uint64,
		_ time.Time) (map[uint64]*roster.Fact[query.DriversKnown], error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	begun := time.Now()
	known := a.driversKnown(t.Context(), 7, []fleet.VehicleID{1})
	if took := time.Since(begun); known != everyDriver || took > 10*patience {
		t.Errorf("%v after %s", known, took)
	}
}
