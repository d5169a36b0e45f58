package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Alerts is how alerts are read.
var Alerts = Derivable[*fleet.Alert]{Kind: fleet.KindAlert, table: "alerts", kinds: "alert_kind",
	fresh: func() *fleet.Alert { return new(fleet.Alert) }}

// DrivingEvents is how moments of unsafe driving are read.
var DrivingEvents = Derivable[*fleet.DrivingEvent]{
	Kind: fleet.KindDriving, table: "driving_events", kinds: "what",
	fresh: func() *fleet.DrivingEvent { return new(fleet.DrivingEvent) },
}

// What becomes of an alert, as lists filter it.
const (
	AlertRaised    = "raised"
	AlertResolved  = "resolved"
	AlertWithdrawn = "withdrawn" // a repair showed that there was no reason for it
)

// Acknowledgement says that somebody took note of an alert.
type Acknowledgement struct {
	At   fleet.Millis
	By   string // the actor, as in the audit trail
	Note string
}

// Acknowledgements returns those that some alerts of an account have, by the id of the alert.
func Acknowledgements(ctx context.Context, db driver.Conn, account fleet.AccountID,
	alerts []uint64) (map[uint64]Acknowledgement, error) {
	all := make(map[uint64]Acknowledgement)
	if len(alerts) == 0 {
		return all, nil
	}
	err := schemas.EachRow(ctx, db, "read acknowledgements", schemas.Query("alerts_acknowledged"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("ids", alerts),
	}, func(row schemas.Row) error {
		var id uint64
		var at int64
		var a Acknowledgement
		if err := row.Scan(&id, &at, &a.By, &a.Note); err != nil {
			return err
		}
		a.At = fleet.Millis(at)
		all[id] = a
		return nil
	})
	return all, err
}
