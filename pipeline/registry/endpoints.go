package registry

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/webhook"
	"github.com/motorpool/fleet/schemas"
)

// Endpoints is where every account wants to be told of events.
type Endpoints struct {
	Refresher

	records map[endpointKey]*endpointRecord // only used while reading

	mu       sync.RWMutex
	all      map[fleet.AccountID][]*webhook.Endpoint // by id; replaced, never changed
	archived map[fleet.AccountID][]*webhook.Endpoint // of which no more than who they are is known; the same
}

type endpointKey struct {
	account fleet.AccountID
	id      uint64
}

type endpointRecord struct {
	revision uint64
	archived bool
	endpoint *webhook.Endpoint // nil if it is archived, or cannot be read
}

// NewEndpoints returns no endpoints; Refresh or Run fills them.
func NewEndpoints(db driver.Conn) *Endpoints {
	e := &Endpoints{records: map[endpointKey]*endpointRecord{}, all: map[fleet.AccountID][]*webhook.Endpoint{},
		archived: map[fleet.AccountID][]*webhook.Endpoint{}}
	e.start(db, "webhook endpoints", e.load, "webhook_endpoints")
	return e
}

// endpointRow is a record as it stands.
type endpointRow struct {
	endpointKey
	revision uint64
	created  time.Time
	at       time.Time
	archived bool
	body     string
}

// load reads what was written since a time.
func (e *Endpoints) load(ctx context.Context, r *reading) error {
	rows, err := schemas.AllRows(ctx, e.db, "read webhook endpoints", schemas.Query("webhook_endpoints_written"),
		[]any{clickhouse.Named("since", r.since.UnixMilli())}, func(one *endpointRow, row schemas.Row) error {
			return row.Scan((*uint64)(&one.account), &one.id, &one.revision, &one.created, &one.at, &one.archived, &one.body)
		})
	if err != nil {
		return err
	}
	changed := map[fleet.AccountID]bool{}
	for i := range rows {
		row := &rows[i]
		r.saw(row.at)
		if was := e.records[row.endpointKey]; was != nil && row.revision <= was.revision {
			continue
		}
		now := &endpointRecord{revision: row.revision, archived: row.archived}
		e.records[row.endpointKey], changed[row.account] = now, true
		if row.archived {
			continue
		}
		if now.endpoint, err = webhook.ParseEndpoint(row.account, row.id, row.revision, []byte(row.body)); err != nil {
			r.skip(webhook.Name(row.id), row.revision, err)
			continue
		}
		now.endpoint.Created = row.created
	}
	for account := range changed {
		var of, archived []*webhook.Endpoint
		for k, rec := range e.records {
			switch {
			case k.account != account:
			case rec.endpoint != nil:
				of = append(of, rec.endpoint)
			case rec.archived:
				archived = append(archived, &webhook.Endpoint{Account: account, ID: k.id})
			}
		}
		slices.SortFunc(of, func(a, b *webhook.Endpoint) int { return cmp.Compare(a.ID, b.ID) })
		e.mu.Lock()
		e.all[account], e.archived[account] = of, archived
		e.mu.Unlock()
	}
	return nil
}

// Of returns the endpoints of an account by their ids, archived ones left out. They are shared and must not be changed.
func (e *Endpoints) Of(account fleet.AccountID) []*webhook.Endpoint {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.all[account]
}

// Get returns an endpoint, and false if it is not known or archived.
func (e *Endpoints) Get(account fleet.AccountID, id uint64) (*webhook.Endpoint, bool) {
	of := e.Of(account)
	at, ok := slices.BinarySearchFunc(of, id, func(x *webhook.Endpoint, id uint64) int { return cmp.Compare(x.ID, id) })
	if !ok {
		return nil, false
	}
	return of[at], true
}

// All returns the endpoints of all accounts, also archived ones, of which no more than who they are is known.
func (e *Endpoints) All() (all []*webhook.Endpoint) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, of := range e.all {
		all = append(all, of...)
	}
	for _, of := range e.archived {
		all = append(all, of...)
	}
	return all
}
