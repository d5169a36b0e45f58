package account

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// Bounds of the audit.
const (
	auditSoon    = 2 * time.Second // until what is new is stored
	auditAgain   = 5 * time.Minute // until what was counted since is
	auditCounts  = 10_000          // held at once; beyond it addresses of a credential are told apart no more
	auditPending = 10_000          // other acts that wait while the store does not answer
	auditWithin  = 10 * time.Second
)

// audit notes what is done with credentials. Uses and refusals are counted in memory, one count for each credential,
// address and hour, so that a request pays for a look-up in a map; a store that does not answer holds up nobody.
type audit struct {
	db      driver.Conn
	log     *slog.Logger
	now     func() time.Time
	newItem func() uint64
	process uint64 // drawn, never 0

	mu     sync.Mutex
	counts map[counted]*tally
	acts   []auth.Use // not counted, and not stored yet
	lost   int        // acts beyond auditPending

	storing sync.Mutex // one at a time
}

// counted is what is counted together.
type counted struct {
	account           fleet.AccountID
	credential, actor string
	kind, reason      string
	act               auth.Act
	client            netip.Addr
	hour              int64 // of Unix
}

// tally is how often, and since when and until when; stored is how much of it the table knows.
type tally struct {
	count, stored   uint64
	first, last, at time.Time // at is when it was stored last
}

func newAudit(a *API) *audit {
	return &audit{db: a.DB, log: a.Log, now: a.Now, newItem: a.Store.NextID, process: 1 + rand.Uint64N(1<<63),
		counts: map[counted]*tally{}}
}

// note is rest.Server.Noted.
func (u *audit) note(_ context.Context, use auth.Use) {
	if use.At.IsZero() {
		use.At = u.now()
	}
	if !use.Act.Counted() {
		if use.Item == 0 {
			use.Item = u.newItem()
		}
		u.mu.Lock()
		if len(u.acts) < auditPending {
			u.acts = append(u.acts, use)
		} else {
			u.lost++
		}
		u.mu.Unlock()
		return
	}
	key := counted{account: use.Account, credential: use.Credential, actor: use.Actor, kind: use.Kind, act: use.Act,
		reason: use.Reason, client: use.Client, hour: use.At.Unix() / 3600}
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.counts[key]
	if t == nil && len(u.counts) >= auditCounts {
		key.client = netip.Addr{}
		t = u.counts[key]
	}
	if t == nil {
		if len(u.counts) >= 2*auditCounts { // only where thousands of credentials are in use within an hour
			u.lost++
			return
		}
		t = &tally{first: use.At}
		u.counts[key] = t
	}
	t.count++
	t.last = use.At
}

// run stores what was noted until ctx ends. What comes then is stored by flush.
func (u *audit) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(auditSoon):
			u.store(ctx, false)
		}
	}
}

// flush stores all that was noted.
func (u *audit) flush(ctx context.Context) { u.store(ctx, true) }

// line is a row of the table.
type line struct {
	counted
	at, first, last time.Time
	item, process   uint64
	count           uint64
}

// store writes what is due, or all. What cannot be written stays, and is written by the next call.
func (u *audit) store(ctx context.Context, all bool) {
	u.storing.Lock()
	defer u.storing.Unlock()
	now := u.now()
	u.mu.Lock()
	acts, lost := u.acts, u.lost
	u.acts, u.lost = nil, 0
	var lines []line
	for key, t := range u.counts {
		over := now.Unix()/3600 > key.hour
		if t.stored == t.count {
			if over { // and nobody counts in it again, but for a clock that was set back
				delete(u.counts, key)
			}
			continue
		}
		if all || over || t.stored == 0 || now.Sub(t.at) >= auditAgain {
			lines = append(lines, line{counted: key, at: time.Unix(key.hour*3600, 0), first: t.first, last: t.last,
				process: u.process, count: t.count})
		}
	}
	u.mu.Unlock()
	for _, use := range acts {
		lines = append(lines, lineOf(use))
	}
	if lost > 0 {
		u.log.ErrorContext(ctx, "acts with credentials are missing in the audit: there were more than it holds",
			"missing", lost)
	}
	if len(lines) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditWithin)
	defer cancel()
	if err := writeLines(ctx, u.db, lines); err != nil {
		u.log.WarnContext(ctx, "what was done with credentials could not be stored, and will be again", "error", err)
		u.mu.Lock()
		u.acts = slices.Concat(acts, u.acts)
		u.mu.Unlock()
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, l := range lines {
		if t := u.counts[l.counted]; t != nil && l.process != 0 {
			t.stored, t.at = l.count, now
		}
	}
}

func lineOf(use auth.Use) line {
	return line{counted: counted{account: use.Account, credential: use.Credential, actor: use.Actor, kind: use.Kind,
		act: use.Act, reason: use.Reason, client: use.Client}, at: use.At, first: use.At, last: use.At, item: use.Item,
		count: 1}
}

func writeLines(ctx context.Context, db driver.Conn, lines []line) error {
	batch, err := db.PrepareBatch(ctx, "INSERT INTO credential_audit (account, at, credential, kind, act, reason, actor, "+
		"client, item, process, first_at, last_at, count)")
	if err != nil {
		return fmt.Errorf("write the audit of credentials: %w", err)
	}
	for _, l := range lines {
		client := ""
		if l.client.IsValid() {
			client = l.client.Unmap().WithZone("").String()
		}
		if err := batch.Append(uint64(l.account), l.at, l.credential, l.kind, string(l.act), l.reason, l.actor, client,
			l.item, l.process, l.first, l.last, l.count); err != nil {
			batch.Abort()
			return fmt.Errorf("write the audit of credentials: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write the audit of credentials: %w", err)
	}
	return nil
}

// RunAudit stores what is noted of credentials until ctx ends.
func (a *API) RunAudit(ctx context.Context) error { return a.audit.run(ctx) }

// FlushAudit stores what was noted and is not stored yet, when nothing more is asked of the process.
func (a *API) FlushAudit(ctx context.Context) { a.audit.flush(ctx) }
