package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/user"
	"github.com/motorpool/fleet/api/user/password"
	"github.com/motorpool/fleet/query"
)

type userCommand struct {
	Create userCreate `cmd:"" help:"Make a person who signs in, and print the link where they choose a password."`
	List   userList   `cmd:"" help:"List the people of an account."`
	Role   userRole   `cmd:"" help:"Give a person another role, from the next few seconds on."`
	Reset  userReset  `cmd:"" help:"Have a person choose another password: print a link, or set what is read. All their sessions end."`
	Remove userRemove `cmd:"" help:"Remove a person: their sessions end, and they cannot sign in."`
}

// userLink is how a person gets a password.
type userLink struct {
	Server   string `name:"server" help:"Address that people reach the interface at, for the link." default:"http://127.0.0.1:8080" placeholder:"URL"`
	Password bool   `name:"password-stdin" help:"Read the password from standard input, one line, in the place of making a link."`
}

type userCreate struct {
	Account string `help:"Account; it is made if there is none of that name." required:"" placeholder:"NAME"`
	Email   string `help:"What they sign in with." required:"" placeholder:"ADDRESS"`
	Name    string `help:"As people know them; the address by default."`
	Role    string `help:"What they may do: owner, manager, clerk, analyst or driver." enum:"owner,manager,clerk,analyst,driver" default:"owner"`
	Locale  string `help:"The language that they read, such as en-US."`
	userLink
	JSON bool `name:"json" help:"Print one JSON object in the place of the link alone."`
}

func (*userCreate) Help() string {
	return `  motorpool user create --account Acme --email ann@example.com --name "Ann Lee"
  motorpool user create --account Acme --email bob@example.com --role clerk --server https://fleet.example.com
  pass show fleet | motorpool user create --account Acme --email ann@example.com --password-stdin

The link is good for seven days, and once. A server with another address than http://127.0.0.1:8080 is named by --server.
An owner may do everything, a manager all but giving access, a clerk works at the desk, an analyst reads, a driver
sees vehicles and what is due on them.`
}

// give has a person choose a password by a link, which is returned, or sets the one that is read from in.
func (l *userLink) give(ctx context.Context, b *record.User, account fleet.AccountID, id uint64, text string) (
	string, error) {
	if !l.Password {
		return user.Link(l.Server, user.Invite(b, account, id, time.Now())), nil
	}
	err := user.SetPassword(ctx, password.New(password.DefaultConfig()), "", b, text, time.Now())
	if refused, ok := errors.AsType[*fleet.Error](err); ok && len(refused.Fields) > 0 {
		return "", errors.New("the password " + refused.Fields[0].Detail)
	}
	return "", err
}

// read reads the password, if there is one to read.
func (l *userLink) read(in io.Reader) (string, error) {
	if err := checkPublic(l.Server); err != nil {
		return "", fmt.Errorf("--server: %w", err)
	}
	if !l.Password {
		return "", nil
	}
	line, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// checkPublic says whether an address can be that of this server; none is good.
func checkPublic(address string) error {
	if address == "" {
		return nil
	}
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil ||
		at.RawQuery != "" || at.Fragment != "" || strings.Trim(at.Path, "/") != "" {
		return fmt.Errorf("%q is not the address of a server, as https://fleet.example.com is", address)
	}
	return nil
}

func (c *userCreate) Run(ctx context.Context, s settings, o output) error {
	text, err := c.read(os.Stdin)
	if err != nil {
		return err
	}
	body := record.User{UserFields: record.UserFields{Name: c.Name, Email: c.Email, Role: c.Role, Locale: c.Locale}}
	if body.Name == "" {
		body.Name = c.Email
	}
	if faults := user.CheckFields(&body.UserFields); faults != nil {
		return fmt.Errorf("--%s %s", strings.TrimPrefix(faults[0].Pointer, "/"), faults[0].Detail)
	}
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, true)
		if err != nil {
			return err
		}
		id := r.store.NextID()
		link, err := c.give(ctx, &body, account, id, text)
		if err != nil {
			return err
		}
		by := commandLine
		by.Command = record.NewCommand()
		made, _, err := record.NewLog(r.store, record.Users).Create(ctx, by, account, id, body)
		if fleet.CodeOf(err) == fleet.CodeConflict {
			return fmt.Errorf("somebody has the address %s already; 'motorpool user reset' gives them another link", c.Email)
		}
		if err != nil {
			return err
		}
		return tellUser(o, c.JSON, made.ID, account, link)
	})
}

// tellUser prints the link alone, or all as JSON.
func tellUser(o output, asJSON bool, id uint64, account fleet.AccountID, link string) error {
	if asJSON {
		told := map[string]any{"id": fleet.UserID(id).String(), "account_id": account.String()}
		if link != "" {
			told["invitation_url"] = link
		}
		return json.NewEncoder(o.out).Encode(told)
	}
	if link == "" {
		link = fleet.UserID(id).String()
	}
	_, err := fmt.Fprintln(o.out, link)
	return err
}

type userList struct {
	Account string `help:"Account." required:"" placeholder:"NAME"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *userList) Run(ctx context.Context, s settings, o output) error {
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		all, err := listAll[record.User](ctx, r, &query.Users, account)
		if err != nil {
			return err
		}
		type line struct {
			ID         string         `json:"id"`
			Email      string         `json:"email"`
			Name       string         `json:"name"`
			Role       string         `json:"role"`
			Disabled   bool           `json:"disabled"`
			SignedInAt record.Instant `json:"signed_in_at"`
		}
		lines := make([]line, 0, len(all))
		for _, u := range all {
			lines = append(lines, line{fleet.UserID(u.ID).String(), u.body.Email, u.body.Name, u.body.Role, u.body.Disabled,
				u.body.SignedInAt})
		}
		return show(o, c.JSON, lines, "ID\tEMAIL\tNAME\tROLE\tDISABLED\tSIGNED IN", func(l line) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%v\t%s", l.ID, l.Email, l.Name, l.Role, l.Disabled, day(l.SignedInAt))
		})
	})
}

type userReset struct {
	Email string `arg:"" help:"Address that they sign in with." placeholder:"ADDRESS"`
	userLink
	Factors bool `help:"Take their passkeys, app for codes and recovery codes away too, as after a telephone was lost."`
	JSON    bool `name:"json" help:"Print one JSON object in the place of the link alone."`
}

func (c *userReset) Run(ctx context.Context, s settings, o output) error {
	text, err := c.read(os.Stdin)
	if err != nil {
		return err
	}
	return withRecords(ctx, s, func(r *records) error {
		account, id, err := r.userOf(ctx, c.Email)
		if err != nil {
			return err
		}
		var link string
		_, err = record.NewLog(r.store, record.Users).Update(ctx, commandLine, account, uint64(id), 0,
			func(rec *record.Record[record.User]) error {
				if c.Factors {
					user.ResetFactors(&rec.Body, time.Now())
				}
				var err error
				link, err = c.give(ctx, &rec.Body, account, rec.ID, text)
				return err
			})
		if err != nil {
			return err
		}
		return tellUser(o, c.JSON, uint64(id), account, link)
	})
}

func (*userReset) Help() string {
	return `  motorpool user reset ann@example.com --server https://fleet.example.com     the password is forgotten
  motorpool user reset ann@example.com --factors                               so is it, and the telephone is lost
  pass show fleet | motorpool user reset ann@example.com --password-stdin      set it at once

The password that they have opens nothing from then on, all their sessions end, and what they granted to programs too.
Their passkeys and their app for codes stay unless --factors takes them away: a passkey goes on signing in, as one does
that was stolen with its device.`
}

// userOf finds the person of an address.
func (r *records) userOf(ctx context.Context, email string) (fleet.AccountID, fleet.UserID, error) {
	account, id, err := query.UserByEmail(ctx, r.db, record.CanonicalEmail(email))
	if err == nil && id == 0 {
		err = fmt.Errorf("nobody has the address %s; 'motorpool user list --account NAME' lists who there is", email)
	}
	return account, id, err
}

type userRole struct {
	Email string `arg:"" help:"Address that they sign in with." placeholder:"ADDRESS"`
	Role  string `arg:"" help:"What they may do: owner, manager, clerk, analyst or driver." enum:"owner,manager,clerk,analyst,driver" placeholder:"ROLE"`
}

func (*userRole) Help() string {
	return `  motorpool user role bob@example.com manager

It is the operator's, and may leave an account without an owner. An invitation that is open and was to a role that may do
less is no good any more: 'motorpool user reset' makes another.`
}

func (c *userRole) Run(ctx context.Context, s settings, _ output) error {
	return withRecords(ctx, s, func(r *records) error {
		account, id, err := r.userOf(ctx, c.Email)
		if err != nil {
			return err
		}
		_, err = record.NewLog(r.store, record.Users).Update(ctx, commandLine, account, uint64(id), 0,
			func(rec *record.Record[record.User]) error {
				user.SetRole(&rec.Body, c.Role)
				return nil
			})
		return err
	})
}

type userRemove struct {
	Email string `arg:"" help:"Address that they sign in with." placeholder:"ADDRESS"`
}

func (c *userRemove) Run(ctx context.Context, s settings, _ output) error {
	return withRecords(ctx, s, func(r *records) error {
		account, id, err := r.userOf(ctx, c.Email)
		if err != nil {
			return err
		}
		_, err = record.NewLog(r.store, record.Users).Archive(ctx, commandLine, account, uint64(id), 0, nil)
		return err
	})
}
