package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/bi"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

type biCommand struct {
	User biUserCommand `cmd:"" help:"Make, change and list users for analysts and BI tools, who read one account from ClickHouse."`
}

type biUserCommand struct {
	Create biUserCreate `cmd:"" help:"Make a user and print its password, once."`
	Rotate biUserRotate `cmd:"" help:"Give a user another password and print it, once."`
	Remove biUserRemove `cmd:"" help:"Remove a user."`
	List   biUserList   `cmd:"" help:"List the users."`
}

func (biUserCommand) Help() string {
	return `A user reads the views of the database bi (docs/bi), of one account, and can change nothing.

On a ClickHouse server the user stands at once, made through SQL. The embedded one of 'motorpool up' reads its users when
it starts: a new user can come in after the next start of 'up', by HTTP at --bi-http, also one who has the name of a user
that was removed. A password that was rotated and a user that was removed are refused at once by both.`
}

// biStore is where users for analysts are kept.
type biStore struct {
	db       driver.Conn
	records  *records
	tables   string
	data     string // of the embedded engine's users; "" if the server makes users through SQL
	settings settings
}

// withBI opens the store of users for the time of a command.
func withBI(ctx context.Context, s settings, do func(*biStore) error) error {
	return withRecords(ctx, s, func(r *records) error {
		b := &biStore{db: r.db, records: r, tables: s.DB.Database, settings: s}
		var throughSQL bool
		if err := r.db.QueryRow(ctx, schemas.Query("bi_sql_users")).Scan(&throughSQL); err != nil {
			return fmt.Errorf("see how users are made: %w", err)
		}
		if throughSQL {
			return do(b)
		}
		if _, err := os.Stat(filepath.Join(s.Data, appPasswordFile)); err != nil {
			return fmt.Errorf("this server makes no users through SQL, and %s is not the data folder of a 'motorpool up': "+
				"give --data, or switch on access_control_path on the server", s.Data)
		}
		b.data = s.Data
		return do(b)
	})
}

// users lists them, with what the place where they are kept knows of them.
func (b *biStore) users(ctx context.Context) ([]biUser, error) {
	if b.data != "" {
		return readBIUsers(b.data)
	}
	known, err := bi.Users(ctx, b.db, b.tables)
	all := make([]biUser, len(known))
	for i, u := range known {
		all[i] = biUser{Name: u.Name, Account: u.Account}
	}
	return all, err
}

// named returns the name of the user that is meant.
func (b *biStore) named(ctx context.Context, given string) (name string, err error) {
	all, err := b.users(ctx)
	if err != nil {
		return "", err
	}
	for _, u := range all {
		if u.Name == given || u.Name == bi.UserPrefix(b.tables)+given {
			name = u.Name
		}
	}
	if name == "" {
		return "", noUser(given)
	}
	return name, nil
}

func noUser(name string) error {
	return fmt.Errorf("there is no user %q: 'motorpool bi user list' lists them", name)
}

// exec runs statements one after the other.
func (b *biStore) exec(ctx context.Context, statements []string) error {
	for _, text := range statements {
		if err := b.db.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(strings.Fields(text)[:3], " "), err)
		}
	}
	return nil
}

// change keeps a change of the users of the embedded engine.
func (b *biStore) change(name string, do func(*biUser)) error {
	return changeBIUsers(b.data, func(all []biUser) ([]biUser, error) {
		i := slices.IndexFunc(all, func(u biUser) bool { return u.Name == name })
		if i < 0 {
			return nil, noUser(name)
		}
		if do == nil {
			return slices.Delete(all, i, i+1), nil
		}
		do(&all[i])
		return all, nil
	})
}

type biUserCreate struct {
	Account string `help:"Account that the user reads." required:"" placeholder:"NAME"`
	Name    string `help:"Name of the user; made of the account's if none is given." placeholder:"NAME"`
}

func (c *biUserCreate) Run(ctx context.Context, s settings, o output) error {
	return withBI(ctx, s, func(b *biStore) error {
		account, err := b.records.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		given := c.Name
		if given == "" {
			given = c.Account
		}
		name, err := bi.UserName(b.tables, given)
		if err != nil {
			return err
		}
		all, err := b.users(ctx)
		if err != nil {
			return err
		}
		if err := isNew(all, name); err != nil {
			return err
		}
		word, sum := newPassword()
		if b.data != "" {
			made := biUser{Name: name, Account: account.String(), SHA256: sum, CreatedAt: time.Now().UTC().Truncate(time.Second)}
			err = changeBIUsers(b.data, func(all []biUser) ([]biUser, error) { return append(all, made), isNew(all, name) })
			if err != nil {
				return err
			}
			fmt.Fprintf(o.err, "made the user %s; it can come in after the next start of 'motorpool up', at its --bi-http\n", name)
		} else {
			if err := b.exec(ctx, bi.Statements(b.tables, name, sum, account)); err != nil {
				return errors.Join(err, b.exec(ctx, bi.Removal(b.tables, name)))
			}
			if err := b.tryOut(ctx, name, word); err != nil {
				return errors.Join(err, b.exec(ctx, bi.Removal(b.tables, name)))
			}
			fmt.Fprintf(o.err, "made the user %s, which can come in at once\n", name)
		}
		_, err = fmt.Fprintln(o.out, word)
		return err
	})
}

// isNew refuses a name that a user has.
func isNew(all []biUser, name string) error {
	if slices.ContainsFunc(all, func(u biUser) bool { return u.Name == name }) {
		return fmt.Errorf("there is a user %s: give another --name, or a new password with 'motorpool bi user rotate'", name)
	}
	return nil
}

// tryOut logs in as a new user and does what a server must refuse, whatever its version and however it is set up.
func (b *biStore) tryOut(ctx context.Context, name, password string) error {
	config := b.settings.store()
	config.User, config.Password, config.PasswordFile = name, password, ""
	config.Database, config.MaxConns = bi.Database(b.tables), 1
	db, err := query.OpenGuest(ctx, config)
	if err != nil {
		return fmt.Errorf("log in as the new user: %w", err)
	}
	defer db.Close()
	for _, attempt := range bi.Musts(b.tables) {
		var refused *clickhouse.Exception
		switch err := db.Exec(ctx, attempt.SQL); {
		case err == nil:
			return fmt.Errorf("the user was removed again, as this server lets it do %q: %s", attempt.SQL, attempt.Advice)
		case !errors.As(err, &refused):
			return err
		}
	}
	return nil
}

type biUserRotate struct {
	Name string `arg:"" help:"Its name, as 'bi user list' shows it."`
}

func (c *biUserRotate) Run(ctx context.Context, s settings, o output) error {
	return withBI(ctx, s, func(b *biStore) error {
		name, err := b.named(ctx, c.Name)
		if err != nil {
			return err
		}
		word, sum := newPassword()
		if b.data != "" {
			err = b.change(name, func(u *biUser) { u.SHA256, u.RotatedAt = sum, time.Now().UTC().Truncate(time.Second) })
		} else {
			err = b.exec(ctx, bi.Rotation(name, sum))
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(o.out, word)
		return err
	})
}

type biUserRemove struct {
	Name string `arg:"" help:"Its name, as 'bi user list' shows it."`
}

func (c *biUserRemove) Run(ctx context.Context, s settings, o output) error {
	return withBI(ctx, s, func(b *biStore) error {
		name, err := b.named(ctx, c.Name)
		if err != nil {
			return err
		}
		if b.data != "" {
			err = b.change(name, nil)
		} else {
			err = b.exec(ctx, bi.Removal(b.tables, name))
		}
		if err == nil {
			fmt.Fprintf(o.err, "removed the user %s\n", name)
		}
		return err
	})
}

type biUserList struct {
	Account string `help:"Account; all of them if none is given." placeholder:"NAME"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *biUserList) Run(ctx context.Context, s settings, o output) error {
	return withBI(ctx, s, func(b *biStore) error {
		all, err := b.users(ctx)
		if err != nil {
			return err
		}
		if c.Account != "" {
			account, err := b.records.account(ctx, c.Account, false)
			if err != nil {
				return err
			}
			all = slices.DeleteFunc(all, func(u biUser) bool { return u.Account != account.String() })
		}
		for i := range all {
			all[i].SHA256 = "" // nobody needs it
		}
		return show(o, c.JSON, all, "NAME\tACCOUNT\tCREATED", func(u biUser) string {
			made := "-"
			if !u.CreatedAt.IsZero() {
				made = u.CreatedAt.Format("2006-01-02 15:04")
			}
			return u.Name + "\t" + u.Account + "\t" + made
		})
	})
}

// applyBI makes the views for analysts. A user of ClickHouse who may not make their database can do without them.
func applyBI(ctx context.Context, db driver.Conn, tables string) error {
	var refused *clickhouse.Exception
	err := bi.Apply(ctx, db, tables)
	if errors.As(err, &refused) && refused.Code == accessDenied {
		return nil // the doctor says so
	}
	return err
}

// accessDenied is ClickHouse's code of what a user may not do.
const accessDenied = 497

// examineBI looks at what analysts can reach.
func examineBI(ctx context.Context, db driver.Conn, tables string) finding {
	wrong, err := bi.Audit(ctx, db, tables)
	if errors.Is(err, bi.ErrNoViews) {
		return judge("views for analysts", true, "none: they need the right to CREATE DATABASE "+bi.Database(tables)+
			" and CREATE VIEW in it, and 'motorpool migrate'", "")
	}
	if err != nil {
		return judge("views for analysts", false, err.Error(),
			"give the user the right to read system.tables, system.grants and system.row_policies")
	}
	users, err := bi.Users(ctx, db, tables)
	if err != nil {
		return judge("views for analysts", false, err.Error(), "run 'motorpool migrate'")
	}
	if len(wrong) == 0 {
		return judge("views for analysts", true, fmt.Sprintf("%d views, %d users", len(schemas.Surface()), len(users)), "")
	}
	return judge("views for analysts", false, strings.Join(wrong, "; "),
		"a view that is missing or not as it was made comes back by 'motorpool migrate', if the user may CREATE DATABASE and CREATE VIEW in "+
			bi.Database(tables)+"; drop what is not of Motorpool; remove a user that reads without a policy and make it again: 'motorpool bi user'")
}
