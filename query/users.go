package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Users is how people who sign in are listed.
var Users = Listing{Table: "users", Search: []string{"name", "email"}, Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "email", Type: TextField, Sort: true},
	{Name: "role", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// Session is the time for which a person is signed in at one browser.
type Session struct {
	Account fleet.AccountID
	User    fleet.UserID
	ID      fleet.SessionID
	Token   string // the SHA-256 of the cookie's secret
	Factors uint8  // what was proved: 1 the password alone, which lets nobody in where more is asked; 2 all that is
	BeganAt time.Time
	SeenAt  time.Time // to the minute
	EndedAt time.Time // the epoch if it was not ended
	Address string    // of the client when it began
	Agent   string    // what the browser called itself
}

// Ended says whether somebody has ended the session.
func (s *Session) Ended() bool { return s.EndedAt.Unix() > 0 }

func (s *Session) scan(row interface{ Scan(...any) error }) error {
	var account, user, id uint64
	err := row.Scan(&account, &user, &id, &s.Token, &s.Factors, &s.BeganAt, &s.SeenAt, &s.EndedAt, &s.Address, &s.Agent)
	s.Account, s.User, s.ID = fleet.AccountID(account), fleet.UserID(user), fleet.SessionID(id)
	return err
}

// NoteSession adds what is known of a session now to what is known before: each value only grows.
func NoteSession(ctx context.Context, db driver.Conn, s *Session) error {
	batch, err := db.PrepareBatch(ctx,
		"INSERT INTO sessions (account, user, id, token, factors, began_at, seen_at, ended_at, address, agent, at)")
	if err != nil {
		return fmt.Errorf("note a session: %w", err)
	}
	at := s.BeganAt
	for _, t := range []time.Time{s.SeenAt, s.EndedAt} {
		if t.After(at) {
			at = t
		}
	}
	zero := time.UnixMilli(0)
	for _, t := range []*time.Time{&s.BeganAt, &s.SeenAt, &s.EndedAt} {
		if t.Before(zero) {
			*t = zero
		}
	}
	if err := batch.Append(uint64(s.Account), uint64(s.User), uint64(s.ID), s.Token, s.Factors, s.BeganAt, s.SeenAt,
		s.EndedAt, s.Address, s.Agent, at); err != nil {
		batch.Abort()
		return fmt.Errorf("note a session: %w", err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note a session: %w", err)
	}
	return nil
}

// SessionByToken finds a session by the hash of its cookie, over all accounts; nil if there is none.
func SessionByToken(ctx context.Context, db driver.Conn, token string) (*Session, error) {
	s := &Session{}
	err := s.scan(db.QueryRow(ctx, schemas.Query("session_by_token"), clickhouse.Named("token", token)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	return s, nil
}

// SessionFilter says which sessions of an account are wanted, of those that let somebody in; what is zero is not asked
// for.
type SessionFilter struct {
	Account fleet.AccountID
	User    fleet.UserID
	ID      fleet.SessionID
	Since   time.Time // they began later
	Idle    time.Time // they were used later

	After         fleet.SessionID // the last of a page before
	Offset, Limit int
}

func (f *SessionFilter) named() []any {
	return []any{clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("user", uint64(f.User)),
		clickhouse.Named("id", uint64(f.ID)), clickhouse.Named("since", f.Since.UnixMilli()),
		clickhouse.Named("idle", f.Idle.UnixMilli()), clickhouse.Named("after", uint64(f.After)),
		clickhouse.Named("limit", uint64(f.Limit)), clickhouse.Named("offset", uint64(f.Offset))}
}

// Sessions returns sessions, the newest first, and how many there are without cursor, offset and limit.
func Sessions(ctx context.Context, db driver.Conn, f SessionFilter) ([]Session, int, error) {
	total, err := countRows(ctx, db, "session_count", f.named())
	if err != nil {
		return nil, 0, fmt.Errorf("count sessions: %w", err)
	}
	found, err := schemas.AllRows(ctx, db, "list sessions", schemas.Query("session_list"), f.named(),
		func(s *Session, row schemas.Row) error { return s.scan(row) })
	return found, total, err
}

// UserByEmail finds whose an address is, in small letters, over all accounts. Nobody is a zero id and no error.
func UserByEmail(ctx context.Context, db driver.Conn,
	email string) (account fleet.AccountID, id fleet.UserID, err error) {
	var a, u uint64
	err = db.QueryRow(ctx, schemas.Query("user_by_email"), clickhouse.Named("email", email)).Scan(&a, &u)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read user: %w", err)
	}
	return fleet.AccountID(a), fleet.UserID(u), nil
}

// OtherOwners lists who may be an owner of an account, but for one, the eldest first.
func OtherOwners(ctx context.Context, db driver.Conn, account fleet.AccountID, but uint64) ([]uint64, error) {
	return schemas.AllRows(ctx, db, "list owners", schemas.Query("user_owners"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("but", but),
	}, func(id *uint64, row schemas.Row) error { return row.Scan(id) })
}
