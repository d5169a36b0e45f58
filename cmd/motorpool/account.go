package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

type accountCommand struct {
	Create accountCreate `cmd:"" help:"Make an account, the home of one tenant's vehicles, trackers and keys."`
	List   accountList   `cmd:"" help:"List the accounts."`
	Limit  accountLimit  `cmd:"" help:"Say how many requests a minute each credential of an account may make."`
}

type accountCreate struct {
	Name     string `arg:"" help:"Its name, unique among the accounts in use."`
	Timezone string `help:"IANA time zone of its local dates." default:"UTC"`
	Currency string `help:"ISO 4217 code of its money."`
	JSON     bool   `name:"json" help:"Print one JSON object."`
}

type accountLimit struct {
	Name     string `arg:"" help:"Name of the account."`
	Requests *int   `arg:"" optional:"" help:"So many reads, as many requests of trackers, and a fifth as many writes; all credentials together five times as many. 0 is no limit; without it that of the server (--rate-limit) holds again."`
}

type accountList struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// withRecords opens ClickHouse for the time of a command.
func withRecords(ctx context.Context, s settings, do func(*records) error) error {
	db, err := s.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	all, err := newRecords(db)
	if err != nil {
		return err
	}
	return do(all)
}

// accountNamed returns the account of a name, and zero if there is none.
func (r *records) accountNamed(ctx context.Context, name string) (fleet.AccountID, error) {
	if name == "" {
		return 0, nil // no account has it, and to the query it means all
	}
	found, err := query.Accounts(ctx, r.db, name)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return fleet.AccountID(found[0].ID), nil
}

// stored is a record as a list has it.
type stored[T any] struct {
	query.Stored
	body T
}

// listAll returns all records of a kind that an account uses, by id.
func listAll[T any](ctx context.Context, r *records, listing *query.Listing,
	account fleet.AccountID) ([]stored[T], error) {
	var all []stored[T]
	for request := (query.ListRequest{Account: account, Limit: 500}); ; {
		page, err := query.List(ctx, r.db, listing, request)
		if err != nil {
			return nil, err
		}
		for _, found := range page.Records {
			entry := stored[T]{Stored: found}
			if err := json.Unmarshal([]byte(found.Body), &entry.body); err != nil {
				return nil, fmt.Errorf("decode %s %d: %w", listing.Table, found.ID, err)
			}
			all = append(all, entry)
		}
		if page.Next == nil {
			return all, nil
		}
		request.After = page.Next
	}
}

// account finds an account by its name, and makes it if it may.
func (r *records) account(ctx context.Context, name string, make bool) (fleet.AccountID, error) {
	id, err := r.accountNamed(ctx, name)
	if err != nil || id != 0 {
		return id, err
	}
	if !make {
		return 0, fmt.Errorf("there is no account %q; 'motorpool account list' shows those there are", name)
	}
	return r.createAccount(ctx, record.Account{Name: name, Timezone: "UTC"})
}

func (r *records) createAccount(ctx context.Context, body record.Account) (fleet.AccountID, error) {
	if _, err := time.LoadLocation(body.Timezone); err != nil {
		return 0, fmt.Errorf("%q is not an IANA time zone such as Europe/Berlin", body.Timezone)
	}
	if body.Name == "" || len(body.Name) > 100 {
		return 0, errors.New("an account's name has 1 to 100 bytes")
	}
	by := commandLine
	by.Command = record.NewCommand()
	var made record.Record[record.Account]
	err := record.ErrTaken
	for errors.Is(err, record.ErrTaken) {
		id := r.store.NextID()
		made, _, err = r.accounts.Create(ctx, by, fleet.AccountID(id), id, body)
	}
	if fleet.CodeOf(err) == fleet.CodeConflict {
		// Another command made the account a moment ago.
		if other, readErr := r.accountNamed(ctx, body.Name); readErr == nil && other != 0 {
			return other, nil
		}
	}
	return fleet.AccountID(made.ID), err
}

func (c *accountCreate) Run(ctx context.Context, s settings, o output) error {
	return withRecords(ctx, s, func(r *records) error {
		known, err := r.accountNamed(ctx, c.Name)
		if err != nil {
			return err
		}
		if known != 0 {
			return fmt.Errorf("the account %q exists already: %s", c.Name, known)
		}
		id, err := r.createAccount(ctx, record.Account{Name: c.Name, Timezone: c.Timezone, Currency: c.Currency})
		if err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(o.out).Encode(map[string]string{"id": id.String(), "name": c.Name})
		}
		_, err = fmt.Fprintln(o.out, id)
		return err
	})
}

func (c *accountList) Run(ctx context.Context, s settings, o output) error {
	return withRecords(ctx, s, func(r *records) error {
		all, err := query.Accounts(ctx, r.db, "")
		if err != nil {
			return err
		}
		type line struct {
			ID        string         `json:"id"`
			Name      string         `json:"name"`
			Timezone  string         `json:"timezone"`
			RateLimit *int           `json:"rate_limit"`
			CreatedAt record.Instant `json:"created_at"`
		}
		lines := make([]line, 0, len(all))
		for _, a := range all {
			var body record.Account
			if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
				return fmt.Errorf("decode account %d: %w", a.ID, err)
			}
			lines = append(lines, line{fleet.AccountID(a.ID).String(), body.Name, body.Timezone, body.RateLimit,
				record.InstantOf(a.CreatedAt)})
		}
		return show(o, c.JSON, lines, "ID\tNAME\tTIME ZONE\tREQUESTS A MINUTE\tCREATED", func(l line) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", l.ID, l.Name, l.Timezone, limitText(l.RateLimit), day(l.CreatedAt))
		})
	})
}

// limitText is a limit as people read it.
func limitText(limit *int) string {
	switch {
	case limit == nil:
		return "as of the server"
	case *limit == 0:
		return "no limit"
	}
	return strconv.Itoa(*limit)
}

// Run changes the limit of an account, which each server applies within seconds.
func (c *accountLimit) Run(ctx context.Context, s settings, o output) error {
	if n := c.Requests; n != nil && (*n < 0 || *n > auth.MaxRate) {
		return fmt.Errorf("the requests a minute must be between 0 and %d", auth.MaxRate)
	}
	return withRecords(ctx, s, func(r *records) error {
		id, err := r.account(ctx, c.Name, false)
		if err != nil {
			return err
		}
		by := commandLine
		by.Command = record.NewCommand()
		_, err = r.accounts.Update(ctx, by, id, uint64(id), 0, func(rec *record.Record[record.Account]) error {
			rec.Body.RateLimit = c.Requests
			return nil
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.out, "%s: %s\n", c.Name, limitText(c.Requests))
		return err
	})
}

// show prints lines as a table, or as a JSON array.
func show[T any](o output, asJSON bool, lines []T, header string, row func(T) string) error {
	if asJSON {
		encoder := json.NewEncoder(o.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(lines)
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, header)
	for _, l := range lines {
		fmt.Fprintln(table, row(l))
	}
	return table.Flush()
}

func day(i record.Instant) string {
	if i.IsZero() {
		return "-"
	}
	return i.UTC().Format("2006-01-02 15:04")
}
