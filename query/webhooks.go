package query

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// WebhookEndpoints is how webhook endpoints are listed.
var WebhookEndpoints = Listing{Table: "webhook_endpoints", Search: []string{"url", "description"}, Fields: []ListField{
	{Name: "status", Type: TextField},
	{Name: "url", Type: WordsField, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// WebhookDelivery is an event that an endpoint is to get. Times of 0 are none.
type WebhookDelivery struct {
	ID, Endpoint, Sequence, Event uint64
	Type                          string
	Vehicle                       fleet.VehicleID
	Replay                        uint64 // that asked for it; 0 is none
	CreatedAt, UpdatedAt          fleet.Millis
	Status                        string
	Attempts                      uint16
	NextAt                        fleet.Millis
	ResponseStatus                uint16 // of the last attempt; 0: no answer
	DurationMS                    uint32
	Error                         string
}

// WebhookAttempt is one request to an endpoint.
type WebhookAttempt struct {
	Delivery     uint64
	Number       uint16
	At           fleet.Millis
	Event        uint64
	Type         string
	URL          string
	RequestHead  string
	RequestBytes uint32
	Succeeded    bool
	Status       uint16 // of the answer; 0: none
	ResponseHead string
	ResponseBody string
	DurationMS   uint32
	Error        string
}

// WebhookFilter says which deliveries or attempts of an account are wanted.
type WebhookFilter struct {
	Account  fleet.AccountID
	Endpoint uint64       // 0: of all; attempts are always of one
	Delivery uint64       // of attempts; 0: of all
	From, To fleet.Millis // [From, To); To 0 means no end
	Status   string       // of deliveries
	Types    []string     // of deliveries
	Failed   bool         // of attempts: those alone that failed

	AfterAt       fleet.Millis // of a page before: its last time
	AfterID       uint64       // and its last id
	Offset, Limit int
}

func (f *WebhookFilter) named() []any {
	to := f.To
	if to == 0 || to > endOfTime {
		to = endOfTime
	}
	var failed uint8
	if f.Failed {
		failed = 1
	}
	types := f.Types
	if types == nil {
		types = []string{}
	}
	return []any{clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("endpoint", f.Endpoint),
		clickhouse.Named("delivery", f.Delivery), clickhouse.Named("from", int64(max(f.From, 0))),
		clickhouse.Named("to", int64(to)), clickhouse.Named("status", f.Status), clickhouse.Named("types", types),
		clickhouse.Named("failed", failed), clickhouse.Named("after_at", int64(f.AfterAt)),
		clickhouse.Named("after_id", f.AfterID), clickhouse.Named("limit", uint64(f.Limit)),
		clickhouse.Named("offset", uint64(f.Offset))}
}

// WebhookDeliveries returns deliveries, newest first, and how many there are without cursor, offset and limit.
func WebhookDeliveries(ctx context.Context, db driver.Conn, f WebhookFilter) ([]WebhookDelivery, int, error) {
	total, err := countRows(ctx, db, "webhook_deliveries_count", f.named())
	if err != nil {
		return nil, 0, fmt.Errorf("count webhook deliveries: %w", err)
	}
	found, err := schemas.AllRows(ctx, db, "read webhook deliveries", schemas.Query("webhook_deliveries_list"),
		f.named(), (*WebhookDelivery).scan)
	return found, total, err
}

// FindWebhookDelivery returns a delivery of an account, and false if it has none of that id.
func FindWebhookDelivery(ctx context.Context, db driver.Conn, account fleet.AccountID,
	id uint64) (WebhookDelivery, bool, error) {
	return schemas.OneRow(ctx, db, "read a webhook delivery", schemas.Query("webhook_delivery"),
		[]any{clickhouse.Named("account", uint64(account)), clickhouse.Named("id", id)}, (*WebhookDelivery).scan)
}

func (d *WebhookDelivery) scan(row schemas.Row) error {
	return row.Scan(&d.ID, &d.Endpoint, &d.Sequence, &d.Event, &d.Type, (*uint64)(&d.Vehicle), &d.Replay,
		(*int64)(&d.CreatedAt), (*int64)(&d.UpdatedAt), &d.Status, &d.Attempts, (*int64)(&d.NextAt), &d.ResponseStatus,
		&d.DurationMS, &d.Error)
}

// WebhookAttempts returns attempts at an endpoint, newest first, and how many there are without cursor, offset and
// limit.
func WebhookAttempts(ctx context.Context, db driver.Conn, f WebhookFilter) ([]WebhookAttempt, int, error) {
	total, err := countRows(ctx, db, "webhook_attempts_count", f.named())
	if err != nil {
		return nil, 0, fmt.Errorf("count webhook attempts: %w", err)
	}
	found, err := schemas.AllRows(ctx, db, "read webhook attempts", schemas.Query("webhook_attempts_list"), f.named(),
		func(a *WebhookAttempt, row schemas.Row) error {
			return row.Scan(&a.Delivery, &a.Number, (*int64)(&a.At), &a.Event, &a.Type, &a.URL, &a.RequestHead,
				&a.RequestBytes, &a.Succeeded, &a.Status, &a.ResponseHead, &a.ResponseBody, &a.DurationMS, &a.Error)
		})
	return found, total, err
}

func countRows(ctx context.Context, db driver.Conn, name string, args []any) (int, error) {
	var n uint64
	err := db.QueryRow(ctx, schemas.Query(name), args...).Scan(&n)
	return int(n), err
}

// WebhookHealth is how an endpoint fares. Times of 0 are none.
type WebhookHealth struct {
	Attempts, Failures uint64 // since the time that was asked for
	P50, P95           uint32 // ms, of those that were answered
	Backlog            uint64 // deliveries that wait
	Oldest             fleet.Millis
	FailingSince       fleet.Millis // the first failure after the last success
	Failing            uint32       // attempts since then
	Warned             uint8        // percent of the time until it is switched off that the account was told of
	LastSuccess        fleet.Millis
	LastFailure        fleet.Millis
	LastStatus         uint16
	LastError          string
	Circuit            string // closed, open or half_open; "" if nothing is known
	OpenUntil          fleet.Millis
}

// WebhookHealthOf returns how an endpoint fares, with what its attempts since an instant came to.
func WebhookHealthOf(ctx context.Context, db driver.Conn, account fleet.AccountID, endpoint uint64,
	since time.Time) (h WebhookHealth, err error) {
	err = db.QueryRow(ctx, schemas.Query("webhook_endpoint_health"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("endpoint", endpoint), clickhouse.Named("since", since.UnixMilli())).Scan(&h.Attempts, &h.Failures,
		&h.P50, &h.P95, &h.Backlog, (*int64)(&h.Oldest), (*int64)(&h.FailingSince), &h.Failing, &h.Warned,
		(*int64)(&h.LastSuccess), (*int64)(&h.LastFailure), &h.LastStatus, &h.LastError, &h.Circuit,
		(*int64)(&h.OpenUntil))
	if err != nil {
		return h, fmt.Errorf("read how webhook endpoint %d fares: %w", endpoint, err)
	}
	return h, nil
}

// EventOf returns the event of an account that has a sequence and an id, and false if it is gone.
func EventOf(ctx context.Context, db driver.Conn, account fleet.AccountID,
	sequence, id uint64) (fleet.Event, bool, error) {
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("sequences", []uint64{sequence}),
		clickhouse.Named("ids", []uint64{id})}
	return schemas.OneRow(ctx, db, "read an event", schemas.Query("webhook_events"), args,
		func(e *fleet.Event, row schemas.Row) error {
			var at int64
			var kind, body string
			err := row.Scan(&sequence, &e.ID, &e.Type, (*uint64)(&e.Vehicle), &at, &e.Late, &kind, &e.Object, &e.Revision,
				&body)
			e.Account, e.At, e.Kind, e.Body = account, fleet.Millis(at), fleet.Kind(kind), json.RawMessage(body)
			return err
		})
}
