package follow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// pairAccounts returns the accounts that have rules about pairs.
func (f *Follower) pairAccounts(ctx context.Context) (map[fleet.AccountID]bool, error) {
	all := map[fleet.AccountID]bool{}
	err := f.each(ctx, "pair_accounts", func(row schemas.Row) error {
		var account uint64
		if err := row.Scan(&account); err != nil {
			return err
		}
		all[fleet.AccountID(account)] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find accounts with rules about pairs: %w", err)
	}
	return all, nil
}

// watches returns every watch.
func (f *Follower) watches(ctx context.Context) (all []watch, err error) {
	err = f.each(ctx, "pair_watches", func(row schemas.Row) error {
		var account, rule, first, second uint64
		var from, until int64
		var w watch
		if err := row.Scan(&account, &rule, &w.revision, &first, &second, &from, &until); err != nil {
			return err
		}
		w.account, w.rule, w.pair = fleet.AccountID(account), fleet.RuleID(rule),
			[2]fleet.VehicleID{fleet.VehicleID(first), fleet.VehicleID(second)}
		w.from, w.until = fleet.Millis(from), fleet.Millis(until)
		all = append(all, w)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load pairs of vehicles: %w", err)
	}
	return all, nil
}

func (f *Follower) writeWatches(ctx context.Context, all []watch) error {
	err := insert(ctx, f.deps.DB,
		"INSERT INTO pair_watches (account, rule, rule_revision, vehicle, other, from_ms, until_ms)", all,
		func(b driver.Batch, w *watch) error {
			return b.Append(uint64(w.account), uint64(w.rule), w.revision, uint64(w.pair[0]), uint64(w.pair[1]), int64(w.from),
				int64(w.until))
		})
	if err != nil {
		return fmt.Errorf("insert %d pairs of vehicles: %w", len(all), err)
	}
	return nil
}

// marks returns those that are not done.
func (f *Follower) marks(ctx context.Context) (all []mark, err error) {
	err = f.each(ctx, "pair_marks", func(row schemas.Row) error {
		var account, vehicle uint64
		var from, again int64
		var m mark
		if err := row.Scan(&account, &vehicle, &m.number, &from, &again); err != nil {
			return err
		}
		m.key, m.from, m.lookUntil = keyOf(account, vehicle), fleet.Millis(from), fleet.Millis(again)
		all = append(all, m)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load marks of pairs: %w", err)
	}
	return all, nil
}

func (f *Follower) writeMarks(ctx context.Context, all []mark) error {
	err := insert(ctx, f.deps.DB, "INSERT INTO pair_marks (account, vehicle, number, from_ms, again_at, done)", all,
		func(b driver.Batch, m *mark) error {
			return b.Append(uint64(m.key.Account), uint64(m.key.Vehicle), m.number, int64(m.from), int64(m.lookUntil), m.done)
		})
	if err != nil {
		return fmt.Errorf("insert %d marks of pairs: %w", len(all), err)
	}
	return nil
}

// pairAlerts returns the alerts that are stored of a watch and end at or after a time or go on, by identity.
func (f *Follower) pairAlerts(ctx context.Context, w *watch, from fleet.Millis) (map[uint64]*fleet.Alert, error) {
	all := map[uint64]*fleet.Alert{}
	err := f.each(ctx, "pair_alerts", func(row schemas.Row) error {
		var id uint64
		var recognised int64
		var body string
		if err := row.Scan(&id, &recognised, &body); err != nil {
			return err
		}
		a := new(fleet.Alert)
		if err := json.Unmarshal([]byte(body), a); err != nil {
			return err
		}
		if a.ID, a.RecognisedAt = id, fleet.Millis(recognised); a.Start < w.from || w.until != 0 && a.Start > w.until {
			return nil // of the same pair at another time
		}
		all[id] = a
		return nil
	}, clickhouse.Named("account", uint64(w.account)), clickhouse.Named("vehicle", uint64(w.pair[0])),
		clickhouse.Named("from", int64(from)), clickhouse.Named("rule", uint64(w.rule)),
		clickhouse.Named("revision", w.revision),
		clickhouse.Named("other", w.pair[1].String()))
	if err != nil {
		return nil, fmt.Errorf("load alerts about a pair: %w", err)
	}
	return all, nil
}
