package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// claimRow is the newest row of claim_log for one value.
type claimRow struct {
	revision uint64 // zero if the value was never claimed
	writeID  uint64
	owner    uint64 // zero if it was released
	detail   string // of a claim on a value: the account of the owner
	expired  bool
	age      time.Duration // by the server's clock
}

// account returns the account of the record that owns the claim.
func (c *claimRow) account() uint64 {
	account, _ := strconv.ParseUint(c.detail, 10, 64) // written by take
	return account
}

// ownedBy says whether a record owns the claim. On a value that is unique over all accounts the account belongs to
// the owner's name.
func (c *claimRow) ownedBy(account, owner uint64) bool {
	return c.owner == owner && c.account() == account
}

func (c *claimRow) free() bool { return c.revision == 0 || c.owner == 0 || c.expired }

func (s *Store) claim(ctx context.Context, account uint64, field, value string) (claimRow, error) {
	if s.draft != nil {
		return s.draft.claim(account, field, value)
	}
	var c claimRow
	var ms int64
	err := s.db.QueryRow(ctx, schemas.Query("claim_newest"), clickhouse.Named("account", account),
		clickhouse.Named("field", field), clickhouse.Named("value", value)).
		Scan(&c.revision, &c.writeID, &c.owner, &c.detail, &c.expired, &ms)
	if errors.Is(err, sql.ErrNoRows) {
		return claimRow{}, nil
	}
	if err != nil {
		return claimRow{}, fmt.Errorf("read claim on %s: %w", field, err)
	}
	c.age = time.Duration(ms) * time.Millisecond
	return c, nil
}

const insertClaim = `INSERT INTO claim_log (account, field, value, revision, write_id, owner, expires_at, detail)`

// claimToken is the token of a revision of a claim: of all writes with it one stands.
func claimToken(account uint64, field, value string, number uint64) string {
	return fmt.Sprintf("%d:%s:%s:%d", account, field, digest(value), number)
}

// setClaim writes the revision of a claim that follows the one of a number, and returns its number; errLost says that
// another came first. The table drops claims that have expired, and the server may still know their tokens: numbers
// whose tokens are spent are passed over, by all who want to follow the same revision alike.
func (s *Store) setClaim(ctx context.Context, account uint64, field, value string, after, owner uint64,
	expires *time.Time, detail string) (uint64, error) {
	if s.draft != nil {
		return s.draft.setClaim(account, field, value, after, owner, expires, detail)
	}
	mine := RandomID()
	for number := after + 1; ; number++ {
		token := claimToken(account, field, value, number)
		insert := func() (bool, error) {
			heard := &schemas.Verdict{}
			batch, err := s.db.PrepareBatch(heard.Of(WithToken(ctx, token)), insertClaim)
			if err != nil {
				return false, err
			}
			if err := batch.Append(account, field, value, number, mine, owner, expires, detail); err != nil {
				batch.Abort()
				return false, err
			}
			return sent(heard, batch)
		}
		winner := func() (uint64, error) {
			return s.writer(ctx, "claim_writer", clickhouse.Named("account", account), clickhouse.Named("field", field),
				clickhouse.Named("value", value), clickhouse.Named("revision", number))
		}
		if err := decide(ctx, insert, winner, mine); !errors.Is(err, errSpent) {
			return number, err
		}
	}
}

// taken is a claim that a write made, with what is needed to release it.
type taken struct {
	claim    Claim
	revision uint64
}

func (c *Claim) account(account uint64) uint64 {
	if c.Global {
		return 0
	}
	return account
}

// take claims a value for an owner. holds says whether the newest revision of the present owner's record really
// holds the value; a claim of which it does not, and that is older than any write may take, was abandoned.
func (s *Store) take(ctx context.Context, account, owner uint64, c Claim,
	holds func(account, id uint64) (bool, error)) (taken, error) {
	for {
		row, err := s.claim(ctx, c.account(account), c.Field, c.Value)
		if err != nil {
			return taken{}, err
		}
		if !row.free() && !row.ownedBy(account, owner) {
			held, err := holds(row.account(), row.owner)
			if err != nil {
				return taken{}, err
			}
			if held || row.age < s.cfg.Abandoned {
				return taken{}, conflictOf(c)
			}
		}
		if !row.free() && takenTogether(c.Field) && s.draft == nil {
			// Whose row is the newest may have died before it looked, also an earlier attempt of this one.
			others, err := s.claimedByOthers(ctx, account, owner, c, holds)
			if err != nil {
				return taken{}, err
			}
			if others {
				return taken{}, conflictOf(c)
			}
		}
		// A value that the owner has claimed before is claimed again, so that whoever is about to release the old
		// claim finds that it is no longer the newest.
		number, err := s.setClaim(ctx, c.account(account), c.Field, c.Value, row.revision, owner, nil,
			strconv.FormatUint(account, 10))
		if errors.Is(err, errLost) {
			continue
		}
		if err != nil {
			return taken{}, fmt.Errorf("claim %s: %w", c.Field, err)
		}
		if late, err := s.cameLate(ctx, account, c, row.revision); err != nil {
			return taken{}, fmt.Errorf("claim %s: %w", c.Field, err)
		} else if late {
			continue
		}
		return taken{claim: c, revision: number}, nil
	}
}

// cameLate says of a value that was claimed upon a revision whether others have claimed it among many.
func (s *Store) cameLate(ctx context.Context, account uint64, c Claim, after uint64) (bool, error) {
	if s.draft != nil || !takenTogether(c.Field) {
		return false, nil
	}
	var claims uint64
	err := s.db.QueryRow(ctx, schemas.Query("claims_since"), clickhouse.Named("account", c.account(account)),
		clickhouse.Named("field", c.Field), clickhouse.Named("value", c.Value), clickhouse.Named("after", after)).
		Scan(&claims)
	return claims > 1, err
}

// release gives a value up if the claim on it is still the one that is meant. A release that fails is not an error:
// the claim lapses.
func (s *Store) release(ctx context.Context, account uint64, t taken) {
	_, _ = s.setClaim(ctx, t.claim.account(account), t.claim.Field, t.claim.Value, t.revision, 0, nil, "")
}

func conflictOf(c Claim) error { return NotUnique(c.Says) }

// NotUnique refuses a value that somebody else has; pointer says where it stands.
func NotUnique(pointer string) error {
	return fleet.NewError(fleet.CodeConflict,
		"Another record has this value already, or is being written with it: "+pointer+" must be unique.",
		fleet.FieldError{Pointer: pointer, Code: "not_unique", Detail: "held by another record"})
}
