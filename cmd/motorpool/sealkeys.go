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
	"github.com/motorpool/fleet/query"
)

// sealKeyFile is where `up` keeps the key that secrets are sealed with, in the data folder.
const sealKeyFile = "seal-key"

type sealCommand struct {
	Key    sealKeyCommand    `cmd:"" help:"Print a new key to seal secrets with. Nothing is stored."`
	Rotate sealRotateCommand `cmd:"" help:"Seal again, with the first key, what is sealed with another one."`
}

func (*sealCommand) Help() string {
	return `Secrets that have to be read back, as those that webhooks are signed with, are stored sealed. The key is not in the
database nor in its backups: --seal-key-file names its file, MOTORPOOL_SEAL_KEY holds it, or 'up' keeps it in the data
folder, as seal-key. Keep a copy where backups are not: without the key each endpoint needs a new secret.

  (motorpool seal key; cat seal-key) > new && mv new seal-key      a new key above the one that was
  motorpool seal rotate                                            when all processes were started again; then remove the old line`
}

type sealKeyCommand struct{}

func (*sealKeyCommand) Run(o output) error {
	_, err := fmt.Fprintln(o.out, seal.NewKey())
	return err
}

type sealRotateCommand struct{}

// Run seals what is sealed with an older key again, of all accounts. It may be broken off and repeated.
func (*sealRotateCommand) Run(ctx context.Context, s settings, o output) error {
	keys, err := s.sealKeys()
	if err != nil {
		return err
	}
	if keys.Empty() {
		return errors.New("there is no key to seal with: give --seal-key-file, or the --data of a running 'up'")
	}
	return withRecords(ctx, s, func(r *records) error {
		accounts, err := query.Accounts(ctx, r.db, "")
		if err != nil {
			return err
		}
		endpoints, sealed := record.NewLog(r.store, record.WebhookEndpoints), 0
		var failed []error
		for _, account := range accounts {
			all, err := listAll[record.WebhookEndpoint](ctx, r, &query.WebhookEndpoints, fleet.AccountID(account.ID))
			if err != nil {
				return err
			}
			for _, endpoint := range all {
				again, err := hook.SealAgain(ctx, endpoints, &keys, commandLine, fleet.AccountID(account.ID), endpoint.ID)
				if err != nil { // the others need not wait for it
					failed = append(failed, err)
				}
				if again {
					sealed++
				}
			}
		}
		if len(failed) > 0 {
			failed = append(failed, errors.New("keep the old key, or have these make a new secret and give their headers anew"))
		}
		again, err := oauth.SealAgain(ctx, record.NewLog(r.store, record.OAuthKeyrings), &keys, commandLine)
		if err != nil {
			failed = append(failed, err)
		}
		signing := "need not be"
		if again {
			signing = "were"
		}
		_, err = fmt.Fprintf(o.out, "%d webhook endpoints were sealed again, with the first key; "+
			"the keys of access tokens %s\n", sealed, signing)
		return errors.Join(append(failed, err)...)
	})
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
