package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

type keyCommand struct {
	Create keyCreate `cmd:"" help:"Make an API key and print it, alone, on standard output. It is shown this once."`
	List   keyList   `cmd:"" help:"List the keys of an account."`
	Revoke keyRevoke `cmd:"" help:"Revoke a key: within five seconds it opens nothing."`
}

type keyCreate struct {
	Account string        `help:"Account that the key opens; it is made if there is none of that name." required:"" placeholder:"NAME"`
	Scopes  string        `help:"What it may do, with commas between: ${scopes}." required:""`
	Name    string        `help:"A name for people." default:"command line"`
	Expires time.Duration `help:"Time until it expires, such as 720h; never by default."`
	From    []string      `help:"Addresses or prefixes that it may be used from; any by default." placeholder:"PREFIX"`
	JSON    bool          `name:"json" help:"Print one JSON object instead of the key alone."`
}

func (*keyCreate) Help() string {
	return `  motorpool key create --account Acme --scopes vehicles:read,telematics:read
  KEY=$(motorpool key create --account Acme --scopes admin)`
}

func (c *keyCreate) Run(ctx context.Context, s settings, o output) error {
	scopes, unknown := auth.ParseScopes(c.Scopes)
	if unknown != "" {
		return fmt.Errorf("there is no scope %q; there are %s", unknown, scopeNames())
	}
	if len(scopes) == 0 {
		return errors.New("--scopes is empty; a key that may do nothing is of no use")
	}
	if c.Expires < 0 {
		return errors.New("--expires lies in the past")
	}
	if _, err := prefixes(c.From); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, true)
		if err != nil {
			return err
		}
		body := record.APIKey{Name: c.Name, IPAllowList: c.From}
		if c.Expires > 0 {
			body.ExpiresAt = record.InstantOf(time.Now().Add(c.Expires))
		}
		id, token, err := r.createKey(ctx, account, scopes, body)
		if err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(o.out).Encode(map[string]any{
				"id": id.String(), "account_id": account.String(), "scopes": scopes, "key": token,
			})
		}
		_, err = fmt.Fprintln(o.out, token)
		return err
	})
}

// createKey makes a key and returns what is shown of it only once.
func (r *records) createKey(ctx context.Context, account fleet.AccountID, scopes []auth.Scope,
	body record.APIKey) (fleet.KeyID, string, error) {
	key := auth.MakeKey()
	body.TokenID, body.SecretSHA256, body.LastFour, body.CreatedBy =
		key.TokenID, key.SecretSHA256, key.LastFour, commandLine.Actor
	for _, scope := range scopes {
		body.Scopes = append(body.Scopes, string(scope))
	}
	made, err := r.keys.New(ctx, commandLine, account, body)
	return fleet.KeyID(made.ID), key.Token, err
}

func scopeNames() string {
	names := make([]string, len(auth.Scopes))
	for i, scope := range auth.Scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, ", ")
}

type keyList struct {
	Account string `help:"Account." required:"" placeholder:"NAME"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *keyList) Run(ctx context.Context, s settings, o output) error {
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		all, err := listAll[record.APIKey](ctx, r, &query.APIKeys, account)
		if err != nil {
			return err
		}
		type line struct {
			ID        string         `json:"id"`
			Name      string         `json:"name"`
			Prefix    string         `json:"prefix"`
			Scopes    []string       `json:"scopes"`
			CreatedAt record.Instant `json:"created_at"`
			ExpiresAt record.Instant `json:"expires_at"`
			RevokedAt record.Instant `json:"revoked_at"`
		}
		lines := make([]line, 0, len(all))
		for _, k := range all {
			lines = append(lines, line{
				ID: fleet.KeyID(k.ID).String(), Name: k.body.Name, Prefix: "mp_live_" + k.body.TokenID, Scopes: k.body.Scopes,
				CreatedAt: record.InstantOf(k.CreatedAt), ExpiresAt: k.body.ExpiresAt, RevokedAt: k.body.RevokedAt,
			})
		}
		return show(o, c.JSON, lines, "ID\tNAME\tKEY\tSCOPES\tCREATED\tEXPIRES\tREVOKED", func(l line) string {
			return fmt.Sprintf("%s\t%s\t%s…\t%s\t%s\t%s\t%s", l.ID, l.Name, l.Prefix, strings.Join(l.Scopes, ","),
				day(l.CreatedAt), day(l.ExpiresAt), day(l.RevokedAt))
		})
	})
}

type keyRevoke struct {
	Account string `help:"Account of the key." required:"" placeholder:"NAME"`
	ID      string `arg:"" help:"Its id, as 'key list' shows it." placeholder:"key_ID"`
}

func (c *keyRevoke) Run(ctx context.Context, s settings, o output) error {
	id, err := fleet.ParseID(fleet.KeyPrefix, c.ID)
	if err != nil {
		return err
	}
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		_, err = r.keys.Update(ctx, commandLine, account, id, 0, func(k *record.Record[record.APIKey]) error {
			if k.Body.RevokedAt.IsZero() || k.Body.RevokedAt.After(time.Now()) {
				k.Body.RevokedAt = record.InstantOf(time.Now())
			}
			return nil
		})
		return err
	})
}
