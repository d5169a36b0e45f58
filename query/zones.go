package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// localise tells the day of each thing: that of its start in the time zone that the vehicle has now, or else the account. The zone as
// it now stands is one rule for all rows, whenever they were written; nothing has to be made again when it changes.
func localise[E fleet.Entity](ctx context.Context, db driver.Conn, account fleet.AccountID, all []Derived[E]) error {
	if len(all) == 0 {
		return nil
	}
	named := map[uint64]string{}
	for i := range all {
		named[uint64(all[i].Vehicle)] = ""
	}
	vehicles := make([]uint64, 0, len(named))
	for vehicle := range named {
		vehicles = append(vehicles, vehicle)
	}
	rows, err := db.Query(ctx, schemas.Query("zones"), clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles))
	if err != nil {
		return fmt.Errorf("read time zones: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var vehicle uint64
		var name string
		if err := rows.Scan(&vehicle, &name); err != nil {
			return fmt.Errorf("read time zones: %w", err)
		}
		named[vehicle] = name
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read time zones: %w", err)
	}
	loaded := map[string]*time.Location{}
	for i := range all {
		d := &all[i]
		name := named[uint64(d.Vehicle)]
		if name == "" {
			name = named[0]
		}
		zone := loaded[name]
		if zone == nil {
			if zone, err = zoneNamed(name, time.UTC); err != nil {
				zone = time.UTC // as the pipeline does: it was checked when it was written
			}
			loaded[name] = zone
		}
		y, m, day := d.Entity.Header().Start.Time().In(zone).Date()
		d.LocalDate = time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	}
	return nil
}
