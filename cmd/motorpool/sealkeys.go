package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/oauth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/seal"
	"github.com/motorpool/fleet/api/user"
	"github.com/motorpool/fleet/query"
)

// sealKeyFile is where `up` keeps the key that secrets are sealed with, in the data folder.
const sealKeyFile = "seal-key"

type sealCommand struct {
	Key    sealKeyCommand    `cmd:"" help:"Print a new key to seal secrets with. Nothing is stored."`
	Rotate sealRotateCommand `cmd:"" help:"Seal again, with the first key, what is sealed with another one."`
}

func (*sealCommand) Help() string {
	return `Secrets that have to be read back, as those that webhooks are signed with or people's apps make codes of, are stored sealed. The key is not in the
database nor in its backups: --seal-key-file names its file, MOTORPOOL_SEAL_KEY holds it, or 'up' keeps it in the data
folder, as seal-key. Keep a copy where backups are not: without the key each endpoint needs a new secret, people with
codes of an app set that up anew, and 'motorpool seal rotate --lost' lets access tokens be signed again.

  (motorpool seal key; cat seal-key) > new && mv new seal-key      a new key above the one that was
  motorpool seal rotate                                            when all processes were started again; then remove the old line`
}

type sealKeyCommand struct{}

func (*sealKeyCommand) Run(o output) error {
	_, err := fmt.Fprintln(o.out, seal.NewKey())
	return err
}

type sealRotateCommand struct {
	Lost bool `help:"The old key is lost: the keys of access tokens that it sealed are thrown away and a new one signs, so that programs get their next token anew."`
}

// Run seals what is sealed with an older key again, of all accounts. It may be broken off and repeated.
func (c *sealRotateCommand) Run(ctx context.Context, s settings, o output) error {
	keys, err := s.sealKeys()
	if err != nil {
		return err
	}
	if keys.Empty() {
		return errors.New("there is no key to seal with: give --seal-key-file, or the --data of a running 'up'")
	}
	return withRecords(ctx, s, func(r *records) error {
		endpoints, failed, err := sealAgain(ctx, r, &keys, record.WebhookEndpoints, &query.WebhookEndpoints, hook.SealAgain)
		if err != nil {
			return err
		}
		if len(failed) > 0 {
			failed = append(failed, errors.New("keep the old key, or have these make a new secret and give their headers anew"))
		}
		people, lost, err := sealAgain(ctx, r, &keys, record.Users, &query.Users, user.SealAgain)
		if err != nil {
			return err
		}
		if failed = append(failed, lost...); len(lost) > 0 {
			failed = append(failed, errors.New("keep the old key, or 'motorpool user reset --factors' has these set up an app anew"))
		}
		again, err := oauth.SealAgain(ctx, record.NewLog(r.store, record.OAuthKeyrings), &keys, c.Lost, commandLine)
		if err != nil {
			failed = append(failed, err, errors.New("give the key that they are sealed with beside the first one, or say --lost"))
		}
		signing := "need not be"
		if again {
			signing = "were"
		}
		_, err = fmt.Fprintf(o.out, "%d webhook endpoints and %d second factors of people were sealed again, with the first "+
			"key; the keys of access tokens %s\n", endpoints, people, signing)
		return errors.Join(append(failed, err)...)
	})
}

// sealAgain seals the records of a kind again, of all accounts, and returns how many were and what became of those that
// could not be: the others need not wait for them.
func sealAgain[T any](ctx context.Context, r *records, keys *seal.Ring, kind record.Kind[T], listing *query.Listing,
	one func(context.Context, *record.Log[T], *seal.Ring, record.Author, fleet.AccountID, uint64) (bool, error)) (
	sealed int, failed []error, err error) {
	accounts, err := query.Accounts(ctx, r.db, "")
	if err != nil {
		return 0, nil, err
	}
	log := record.NewLog(r.store, kind)
	for _, account := range accounts {
		all, err := listAll[T](ctx, r, listing, fleet.AccountID(account.ID))
		if err != nil {
			return sealed, failed, err
		}
		for _, found := range all {
			again, err := one(ctx, log, keys, commandLine, fleet.AccountID(account.ID), found.ID)
			if err != nil {
				failed = append(failed, err)
			}
			if again {
				sealed++
			}
		}
	}
	return sealed, failed, nil
}

// sealKeys are the keys that secrets are sealed with, none if nothing says any. Those that nothing names are the data
// folder's.
func (s *settings) sealKeys() (seal.Ring, error) {
	if s.SealKey != "" {
		keys, err := seal.Read([]byte(strings.ReplaceAll(s.SealKey, ",", "\n")))
		if err != nil {
			return keys, fmt.Errorf("--seal-key: %w", err)
		}
		return keys, nil
	}
	path := s.SealKeyFile
	if path == "" {
		path = filepath.Join(s.Data, sealKeyFile)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && s.SealKeyFile == "" {
		return seal.Ring{}, nil
	}
	if err != nil {
		return seal.Ring{}, fmt.Errorf("read the key that secrets are sealed with: %w", err)
	}
	keys, err := seal.Read(text)
	if err == nil && keys.Empty() {
		err = errors.New("it holds no key")
	}
	if err != nil {
		return keys, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// makeSealKey makes the key of the data folder, unless it is there or another is named.
func (s *settings) makeSealKey() error {
	path := filepath.Join(s.Data, sealKeyFile)
	if _, err := os.Stat(path); s.SealKey != "" || s.SealKeyFile != "" || !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return writeSecret(path, seal.NewKey())
}
