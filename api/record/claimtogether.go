package record

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
)

// takenTogether says whether values of a field are taken by many at once: what a platform or another program calls a
// booking, of which an import brings thousands.
//
// One insert takes them, under a token that says nothing of them. So each who takes such a value looks afterwards
// whether anybody else has a row after the revision that it was seen free at: of two that meet at least one sees the
// other, and gives way. Who takes many writes the revision after the next, so that the row of who takes one, under the
// token of the next, is not the newest if it comes late. Where a process dies before it has looked, or cannot take its
// row back, a row that won nothing may be the newest, or beside it. So whoever finds a claim there, be it their own
// of an attempt before, asks of all who have claimed the value since it was given up last.
func takenTogether(field string) bool {
	return slices.Contains([]string{"booking.external_reservation", "booking.external_ref"}, field)
}

// claimTogether makes claims in one insert, each upon the revision at which its value was seen to be free, and notes
// which were won.
func (s *Store) claimTogether(ctx context.Context, account uint64, ids []uint64, needed []*neededClaim) error {
	needed = slices.DeleteFunc(slices.Clone(needed), func(w *neededClaim) bool { return w.revision == 0 })
	if len(needed) == 0 {
		return nil
	}
	batch, err := s.db.PrepareBatch(WithToken(ctx, fmt.Sprintf("many:%d", needed[0].writeID)), insertClaim)
	if err != nil {
		return fmt.Errorf("claim many values: %w", err)
	}
	for _, w := range needed {
		if err := batch.Append(w.claim.account(account), w.claim.Field, w.claim.Value, w.revision+1, w.writeID, ids[w.item],
			nil, fmt.Sprint(account)); err != nil {
			batch.Abort()
			return fmt.Errorf("claim many values: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("claim many values: %w", err)
	}
	lost, err := s.overtaken(ctx, account, needed)
	if err != nil {
		return err
	}
	var back []*neededClaim
	for _, w := range needed {
		if w.won = !lost[claimKey{w.claim.account(account), w.claim.Field, w.claim.Value}]; !w.won {
			back = append(back, w)
		}
		w.revision++
	}
	s.unclaim(ctx, account, back)
	return nil
}

// freeOf tells which values are free, each by the newest revision of the claims on it.
func (s *Store) freeOf(ctx context.Context, account uint64, values []Claim) (map[claimKey]uint64, error) {
	byField := map[string][]*neededClaim{}
	for _, c := range values {
		byField[c.Field] = append(byField[c.Field], &neededClaim{claim: c})
	}
	free := map[claimKey]uint64{}
	for _, some := range byField {
		if err := s.findFree(ctx, account, some); err != nil {
			return nil, err
		}
		for _, w := range some {
			if w.revision > 0 {
				free[claimKey{w.claim.account(account), w.claim.Field, w.claim.Value}] = w.revision - 1
			}
		}
	}
	return free, nil
}

// overtaken looks which values somebody else has claimed since they were seen to be free.
func (s *Store) overtaken(ctx context.Context, account uint64, needed []*neededClaim) (map[claimKey]bool, error) {
	accounts, fields, values := make([]uint64, len(needed)), make([]string, len(needed)), make([]string, len(needed))
	since, writes := make([]uint64, len(needed)), make([]uint64, len(needed))
	for i, w := range needed {
		accounts[i], fields[i], values[i] = w.claim.account(account), w.claim.Field, w.claim.Value
		since[i], writes[i] = w.revision, w.writeID
	}
	lost := map[claimKey]bool{}
	err := schemas.EachRow(ctx, s.db, "look for other claims on the same values", schemas.Query("claims_overtaken"), []any{
		clickhouse.Named("accounts", accounts), clickhouse.Named("fields", fields), clickhouse.Named("values", values),
		clickhouse.Named("revisions", since), clickhouse.Named("writes", writes),
	}, func(row schemas.Row) error {
		var at claimKey
		err := row.Scan(&at.account, &at.field, &at.value)
		lost[at] = true
		return err
	})
	return lost, err
}

// unclaim takes claims back that nobody has been told of. What cannot be taken back lapses.
func (s *Store) unclaim(ctx context.Context, account uint64, claims []*neededClaim) {
	if len(claims) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Deadline)
	defer cancel()
	writes := make([]uint64, len(claims))
	for i, w := range claims {
		writes[i] = w.writeID
	}
	if err := s.db.Exec(ctx, schemas.Query("claims_unclaim"),
		clickhouse.Named("account", claims[0].claim.account(account)), clickhouse.Named("writes", writes)); err != nil {
		s.log.WarnContext(ctx, "claims that came to nothing could not be taken back, and lapse", "error", err,
			"claims", len(claims))
	}
}

// claimedByOthers says whether anybody else who has claimed a value since it was given up last holds it, or may be
// about to.
func (s *Store) claimedByOthers(ctx context.Context, account, owner uint64, c Claim,
	holds func(account, id uint64) (bool, error)) (bool, error) {
	all, err := schemas.AllRows(ctx, s.db, "read who has claimed a value", schemas.Query("claim_owners"), []any{
		clickhouse.Named("account", c.account(account)), clickhouse.Named("field", c.Field),
		clickhouse.Named("value", c.Value),
	}, func(row *claimRow, from schemas.Row) error {
		var ms int64
		err := from.Scan(&row.owner, &row.detail, &ms)
		row.age = time.Duration(ms) * time.Millisecond
		return err
	})
	if err != nil {
		return false, err
	}
	for _, row := range all {
		if row.ownedBy(account, owner) {
			continue
		}
		if row.age < s.cfg.Abandoned {
			return true, nil
		}
		if held, err := holds(row.account(), row.owner); held || err != nil {
			return held, err
		}
	}
	return false, nil
}
