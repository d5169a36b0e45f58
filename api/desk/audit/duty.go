package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Publisher puts events on their topic and returns when all of them are acknowledged.
type Publisher interface {
	PublishEvents(ctx context.Context, events []fleet.Event) error
}

// Times of the duties.
const (
	repairEvery = 10 * time.Minute
	lately      = 48 * time.Hour // before the last look: sums of months with records written since are put right
	nightly     = 24 * time.Hour
	nightHour   = 3 // in UTC, at which a night's look is taken if none was for half a day
)

// RepairCommand is what repairs drifts.
const RepairCommand = "motorpool doctor --books --repair"

// examples is how many drifts of a check an event tells.
const examples = 20

// Register registers the duties: sums of the ledger are put right soon where something was written lately, and each
// night everything is looked through.
func (a *Audit) Register() {
	a.AddDuty("sums of the ledger", repairEvery, func(ctx context.Context) error {
		since, err := schemas.RollupsLooked(ctx, a.DB)
		if err != nil {
			return err
		}
		if now := a.Now(); since.After(now) {
			since = now
		}
		if !since.IsZero() {
			since = since.Add(-lately)
		}
		return a.repairRollups(ctx, since)
	})
	// Of the duty's own goroutine. As if half a day had passed, so that a process that is started each evening looks too.
	last := a.Now().Add(-nightly / 2)
	a.AddDuty("reconciliation", time.Hour, func(ctx context.Context) error {
		now := a.Now()
		since := now.Sub(last)
		if since < nightly && (now.UTC().Hour() != nightHour || since < nightly/2) {
			return nil
		}
		last = now
		return a.Reconcile(ctx)
	})
}

// Reconcile looks through everything, tells what has drifted, also if a check fails, and puts the sums of the ledger
// right. All else is left to whoever is told: it ought not to happen, and somebody should look before it is gone.
func (a *Audit) Reconcile(ctx context.Context) error {
	drifts, err := a.Look(ctx)
	for _, d := range drifts {
		a.Log.ErrorContext(ctx, "the books have drifted", "drift", d.String(), "repair", RepairCommand)
	}
	return errors.Join(err, a.tell(ctx, drifts), a.repairRollups(ctx, time.Time{}))
}

// Told is what an event says of the drifts of a check in an account.
type Told struct {
	ID     string      `json:"id"` // of the account
	Object string      `json:"object"`
	Check  string      `json:"check"`
	Drifts int         `json:"drifts"` // how many there are
	Some   []toldDrift `json:"examples"`
	Repair string      `json:"repair"` // the command
}

type toldDrift struct {
	Drift
	Difference int64 `json:"difference"`
}

// tell publishes an event for each account and check. Whoever else finds the same on the same day tells it under the
// same id.
func (a *Audit) tell(ctx context.Context, drifts []Drift) error {
	if a.To == nil || len(drifts) == 0 {
		return nil
	}
	now := a.Now()
	type about struct {
		account fleet.AccountID
		check   string
	}
	var order []about
	bodies, hashes := map[about]*Told{}, map[about]uint64{}
	for _, d := range drifts {
		key := about{d.Account, d.Check}
		if bodies[key] == nil {
			order = append(order, key)
			bodies[key] = &Told{ID: d.Account.String(), Object: "books", Check: d.Check, Repair: RepairCommand}
		}
		b := bodies[key]
		if b.Drifts++; b.Drifts <= examples {
			b.Some = append(b.Some, toldDrift{d, d.Found - d.Expected})
		}
		hash := fnv.New64a()
		fmt.Fprint(hash, hashes[key], d, now.UTC().Format(time.DateOnly))
		hashes[key] = hash.Sum64()
	}
	all := make([]fleet.Event, len(order))
	for i, key := range order {
		text, err := json.Marshal(bodies[key])
		if err != nil {
			return fmt.Errorf("encode drifts: %w", err)
		}
		all[i] = fleet.Event{ID: fleet.RecordEventID(key.account, "books", hashes[key], 0, fleet.EventBooksDrift),
			Type: fleet.EventBooksDrift, Account: key.account, At: fleet.MillisOf(now), Kind: "books",
			Object: uint64(key.account), Revision: 1, Body: text}
	}
	if err := a.To.PublishEvents(ctx, all); err != nil {
		return fmt.Errorf("tell of drifts: %w", err)
	}
	return nil
}
