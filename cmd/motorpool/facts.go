package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/rental/ledger"
)

type factsCommand struct {
	Account string `help:"Account." required:"" placeholder:"NAME"`
	From    string `help:"First day; that of the first vehicle, rental or entry unless given." placeholder:"2026-01-01"`
	To      string `help:"Last day; the last that there is anything of unless given." placeholder:"2026-12-31"`
}

func (factsCommand) Help() string {
	return `Makes what reports stand on again, from nothing but records, trips, visits and entries of the ledger: what each
vehicle did, earned and cost on each local day and how long it was in geofences, what each booking had of it, was agreed
to bring and was taxed on, and, of all days, what customers have brought in. Only what differs is written. The server
does so by itself for whatever changes; this is for repair, when 'motorpool doctor' says that something does not agree.
It may be run while the rest runs, be stopped, and be begun again.

  motorpool facts --account Acme
  motorpool facts --account Acme --from 2026-03-01 --to 2026-03-31`
}

func (c *factsCommand) Run(ctx context.Context, s settings, o output) error {
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		facts := factsOf(r)
		from, to, err := facts.Extent(ctx, account)
		if err != nil {
			return err
		}
		if c.From != "" {
			if from, err = ledger.ParseDay(c.From); err != nil {
				return fmt.Errorf("--from %s is no day; write it as 2026-01-01", c.From)
			}
		}
		if c.To != "" {
			if to, err = ledger.ParseDay(c.To); err != nil {
				return fmt.Errorf("--to %s is no day; write it as 2026-12-31", c.To)
			}
		}
		switch {
		case from > to && c.From == "" && c.To == "":
			fmt.Fprintln(o.out, "there is nothing to make facts of")
			return nil
		case from > to:
			return errors.New("--from is after --to")
		}
		begun := time.Now()
		err = facts.Make(ctx, account, from, to, func(m fact.Made) error {
			_, err := fmt.Fprintf(o.err, "%s to %s: %s\n", m.From, m.To, m.Took.Round(time.Millisecond))
			return err
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.out, "made the facts of %s to %s in %s\n", from, to, time.Since(begun).Round(time.Millisecond))
		return err
	})
}

// factsOf opens the facts of all accounts.
func factsOf(r *records) *fact.Facts {
	return fact.New(base.New(r.store, r.db, time.Now, slog.New(slog.DiscardHandler)))
}
