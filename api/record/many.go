package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// claimsAtOnce bounds the claims of CreateMany that are under way.
const claimsAtOnce = 12

// manyMost bounds the records that CreateMany writes together, so that their claims are far from abandoned when the
// records follow.
const manyMost = 100

func (l *kindLog) createMany(ctx context.Context, by Author, account fleet.AccountID, ids []uint64,
	bodies []any) []error {
	errs := make([]error, len(ids))
	if l.store.draft != nil {
		for i := range ids {
			for {
				if _, _, errs[i] = l.create(ctx, by, account, ids[i], bodies[i]); !errors.Is(errs[i], ErrTaken) {
					break
				}
				ids[i] = l.store.Another(by, ids[i])
			}
		}
		return errs
	}
	for from := 0; from < len(ids); from += manyMost {
		to := min(from+manyMost, len(ids))
		l.createSome(ctx, by, account, ids[from:to], bodies[from:to], errs[from:to])
	}
	return errs
}

// neededClaim is a claim that a record to be needs.
type neededClaim struct {
	item     int
	claim    Claim
	revision uint64 // that would be ours; 0 if the value is not free
	writeID  uint64
	won      bool
}

func (l *kindLog) createSome(ctx context.Context, by Author, account fleet.AccountID, ids []uint64, bodies []any,
	errs []error) {
	wide, cancel := context.WithTimeout(ctx, l.store.cfg.Deadline+l.store.cfg.Abandoned/4)
	defer cancel()
	good, err := l.claimAll(wide, account, ids, bodies)
	if err != nil {
		clear(good)
	}
	at := millis(l.store.now())
	var all []*revision
	for i := range ids {
		if good[i] {
			var r *revision
			err := l.number(wide, account, bodies[i], len(ids)-i)
			if err == nil {
				r, err = l.first(by, account, ids[i], bodies[i], at)
			}
			if errs[i] = err; err == nil {
				all = append(all, r)
			}
		}
	}
	err = l.store.appendNew(wide, all)
	if err == nil {
		err = l.store.writtenMany(ctx, slices.DeleteFunc(slices.Clone(all), (*revision).gaveWay))
	}
	if err != nil {
		for i := range good {
			if good[i] && errs[i] == nil {
				errs[i] = unavailable("create "+l.named(ids[i]), err)
			}
		}
	}
	for _, r := range all {
		if err == nil && r.gaveWay() {
			good[slices.Index(ids, r.id)] = false
		}
	}
	// What did not go the short way goes the long one, which tells why it cannot be. It looks first whose the id is:
	// who made many has no token that would tell.
	by.Again = true
	for i := range ids {
		if good[i] {
			continue
		}
		for {
			if _, _, errs[i] = l.create(ctx, by, account, ids[i], bodies[i]); !errors.Is(errs[i], ErrTaken) {
				break
			}
			ids[i] = l.store.Another(by, ids[i])
		}
	}
}

// claimAll makes the claims of many records and says which of the records have all of theirs. A record asks for its
// second value only when it has its first: of two records that want the same values one gets them all.
func (l *kindLog) claimAll(ctx context.Context, account fleet.AccountID, ids []uint64, bodies []any) ([]bool, error) {
	good := make([]bool, len(ids))
	claims := make([][]Claim, len(ids))
	rounds := 0
	for i := range bodies {
		good[i] = true
		claims[i] = l.claims(bodies[i])
		rounds = max(rounds, len(claims[i]))
	}
	for round := range rounds {
		var needed []*neededClaim
		for i := range ids {
			if good[i] && round < len(claims[i]) {
				needed = append(needed, &neededClaim{item: i, claim: claims[i][round], writeID: RandomID()})
			}
		}
		if err := l.store.claimMany(ctx, uint64(account), ids, needed); err != nil {
			return good, err
		}
		for _, w := range needed {
			good[w.item] = w.won
		}
	}
	return good, nil
}

// claimMany makes claims for many records, and notes which were won.
func (s *Store) claimMany(ctx context.Context, account uint64, ids []uint64, needed []*neededClaim) error {
	byField := make(map[string][]*neededClaim)
	for _, w := range needed {
		byField[w.claim.Field] = append(byField[w.claim.Field], w)
	}
	for _, some := range byField {
		if err := s.findFree(ctx, account, some); err != nil {
			return err
		}
	}
	var together []*neededClaim
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(claimsAtOnce)
	for _, w := range needed {
		if takenTogether(w.claim.Field) {
			together = append(together, w)
		} else if w.revision != 0 {
			work.Go(func() error { return s.claimNeeded(inner, account, ids[w.item], w) })
		}
	}
	err := s.claimTogether(ctx, account, ids, together)
	if err := cmp.Or(work.Wait(), err); err != nil {
		return err
	}
	for field, some := range byField {
		if takenTogether(field) {
			continue
		}
		if err := s.findWon(ctx, account, some); err != nil {
			return err
		}
	}
	return nil
}

// findFree gives each claim whose value is free the revision that its claim would be. Two claims to one value are one
// too many: the second is left to the long way.
func (s *Store) findFree(ctx context.Context, account uint64, needed []*neededClaim) error {
	first := &needed[0].claim
	byValue := make(map[string]*neededClaim, len(needed))
	values := make([]string, 0, len(needed))
	for _, w := range needed {
		if byValue[w.claim.Value] == nil {
			byValue[w.claim.Value] = w
			values = append(values, w.claim.Value)
			w.revision = 1
		}
	}
	args := []any{
		clickhouse.Named("account", first.account(account)), clickhouse.Named("field", first.Field),
		clickhouse.Named("values", values),
	}
	return schemas.EachRow(ctx, s.db, "read claims on "+first.Field, schemas.Query("claims_newest"), args,
		func(row schemas.Row) error {
			var value string
			var newest uint64
			var free bool
			if err := row.Scan(&value, &newest, &free); err != nil {
				return err
			}
			w := byValue[value]
			if w.revision = newest + 1; !free {
				w.revision = 0
			}
			return nil
		})
}

// claimNeeded writes a claim that may lose against another of the same revision.
func (s *Store) claimNeeded(ctx context.Context, account, owner uint64, w *neededClaim) error {
	scope := w.claim.account(account)
	token := claimToken(scope, w.claim.Field, w.claim.Value, w.revision)
	batch, err := s.db.PrepareBatch(WithToken(ctx, token), insertClaim)
	if err != nil {
		return fmt.Errorf("claim %s: %w", w.claim.Field, err)
	}
	if err := batch.Append(scope, w.claim.Field, w.claim.Value, w.revision, w.writeID, owner, nil,
		fmt.Sprint(account)); err != nil {
		batch.Abort()
		return fmt.Errorf("claim %s: %w", w.claim.Field, err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("claim %s: %w", w.claim.Field, err)
	}
	return nil
}

// findWon notes which claims stand.
func (s *Store) findWon(ctx context.Context, account uint64, needed []*neededClaim) error {
	first := &needed[0].claim
	byWrite := make(map[uint64]*neededClaim, len(needed))
	values, writes := make([]string, 0, len(needed)), make([]uint64, 0, len(needed))
	for _, w := range needed {
		if w.revision != 0 {
			byWrite[w.writeID] = w
			values, writes = append(values, w.claim.Value), append(writes, w.writeID)
		}
	}
	args := []any{
		clickhouse.Named("account", first.account(account)), clickhouse.Named("field", first.Field),
		clickhouse.Named("values", values), clickhouse.Named("writes", writes),
	}
	return schemas.EachRow(ctx, s.db, "read claims on "+first.Field, schemas.Query("claims_written"), args,
		func(row schemas.Row) error {
			var value string
			var revision, writeID uint64
			if err := row.Scan(&value, &revision, &writeID); err != nil {
				return err
			}
			if w := byWrite[writeID]; w != nil && w.revision == revision {
				w.won = true
			}
			return nil
		})
}

// appendNew writes first revisions of any accounts and kinds in one insert, under one token, which makes a repeated
// insert harmless. Nobody else is likely to write revisions of ids that were just made. Where somebody did, ours gives
// way, which nobody has been told of yet: its writeID is zero then.
func (s *Store) appendNew(ctx context.Context, all []*revision) error {
	if len(all) == 0 {
		return nil
	}
	for _, r := range all {
		r.writeID = writeIDOf(r.command)
	}
	if err := s.appendUnder(ctx, fmt.Sprintf("many:%d", all[0].writeID), s.wrote, all); err != nil {
		return err
	}
	return s.yield(ctx, all)
}

// wrote returns the write of a first revision if its row stands, whatever other stands beside it, and zero if not.
func (s *Store) wrote(ctx context.Context, r *revision) (uint64, error) {
	return s.writer(ctx, "record_written", clickhouse.Named("account", r.account), clickhouse.Named("kind", r.kind),
		clickhouse.Named("id", r.id), clickhouse.Named("write", r.writeID))
}

// yield takes back those of the first revisions that share their id with another's. Of two that meet at least one sees
// the other. If both do, both give way.
func (s *Store) yield(ctx context.Context, all []*revision) error {
	accounts, kinds, ids := make([]uint64, len(all)), make([]string, len(all)), make([]uint64, len(all))
	writes := make([]uint64, len(all))
	for i, r := range all {
		accounts[i], kinds[i], ids[i], writes[i] = r.account, r.kind, r.id, r.writeID
	}
	args := []any{clickhouse.Named("accounts", accounts), clickhouse.Named("kinds", kinds),
		clickhouse.Named("ids", ids), clickhouse.Named("writes", writes)}
	shared := make(map[writtenRef]bool)
	err := schemas.EachRow(ctx, s.db, "look for other records of the same ids", schemas.Query("record_shared"), args,
		func(row schemas.Row) error {
			var account, id uint64
			var kind string
			err := row.Scan(&account, &kind, &id)
			shared[writtenRef{fleet.AccountID(account), Ref{kind, id}}] = true
			return err
		})
	if err != nil || len(shared) == 0 {
		return err
	}
	var back []uint64
	for _, r := range all {
		if shared[r.ref()] {
			back = append(back, r.writeID)
		}
	}
	args[len(args)-1] = clickhouse.Named("writes", back)
	if err := s.db.Exec(ctx, schemas.Query("record_yield"), args...); err != nil {
		return fmt.Errorf("give way to other records of the same ids: %w", err)
	}
	for _, r := range all {
		if shared[r.ref()] {
			r.writeID = 0
		}
	}
	return nil
}

// appendShared writes a first revision to the log together with those of others who create at the same time, and by
// itself if the insert before takes too long.
func (s *Store) appendShared(ctx context.Context, r *revision) error {
	err := s.shared.share(ctx, "record_log", s.appendNew, []*revision{r})
	if errors.Is(err, errLate) {
		return s.appendUnsaid(ctx, r)
	}
	return r.made(err)
}

// appendUnsaid writes a first revision of an id that nobody else asks for, by itself.
func (s *Store) appendUnsaid(ctx context.Context, r *revision) error {
	return r.made(s.appendNew(ctx, []*revision{r}))
}

// made is the error of the insert of a first revision, or that it was taken back.
func (r *revision) made(err error) error {
	if err == nil && r.gaveWay() {
		return ErrTaken
	}
	return err
}

// writtenAtOnce bounds the revisions of CreateMany whose consequences are carried out at a time.
const writtenAtOnce = 8

// writtenMany is written of first revisions of one kind and account.
func (s *Store) writtenMany(ctx context.Context, all []*revision) error {
	if len(all) == 0 {
		return nil
	}
	if err := s.bring(ctx, all...); err != nil {
		return err
	}
	var work errgroup.Group
	work.SetLimit(writtenAtOnce)
	for _, r := range all {
		work.Go(func() error { return s.written(ctx, r, "", listed) })
	}
	return work.Wait()
}
