package report

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// Of two questions that are asked at once the one that fails stops the other, and says why; whoever gives up stops
// both.
func TestTheQuestionThatFailsStopsTheOther(t *testing.T) {
	refused := errors.New("refused")
	fails := func(context.Context) error { return refused }
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	answers := func(context.Context) error { return nil }
	for what, of := range map[string]struct {
		one, other func(context.Context) error
		want       error
	}{
		"the first fails":  {fails, waits, refused},
		"the second fails": {waits, fails, refused},
		"one answers":      {answers, fails, refused},
		"both answer":      {answers, answers, nil},
	} {
		if err := together(t.Context(), of.one, of.other); !errors.Is(err, of.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, leave)
	if err := together(gone, waits, waits); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever asked has gone: %v", err)
	}
}

// Rows and totals of many who ask at once are right, and nobody waits for a connection that another needs to end: here
// there are half as many connections as callers, of whom one may ask twice at once. What takes too much memory is
// refused as such, and whoever has gone is not told anything else.
func TestRowsAndTotalsAreAskedAtOnce(t *testing.T) {
	config := schematest.Config(t)
	config.MaxConns = 4
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`INSERT INTO bookings (account, id, revision, created_at, updated_at, body)
			SELECT 3, number + 1, 1, toDateTime64('2026-01-01 12:00:00', 3, 'UTC') + toIntervalDay(number % 9) AS made, made,
				concat('{"status":"confirmed","customer_id":"cus_', toString(1 + number % 7), '","vehicle_id":"veh_1",
					"pickup_at":"2026-01-20T12:00:00Z"}')
			FROM numbers(90)`,
		`INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
			VALUES (3, 1, 1, '2026-01-01', '2026-01-01', '{"tags":["ev","van"]}')`,
	} {
		if err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := Named("bookings")
	if d.Adds("tag") {
		t.Fatal("the totals are not asked by themselves")
	}
	q := Question{Account: 3, Span: Span{day, day.AddDate(0, 0, 8)}, Basis: "accrual", Currency: "USD",
		Zone: "UTC", Today: day}
	ended := make(chan error)
	const callers = 8 // as many as the interface lets ask for reports at once
	q.Group = "tag"   // of which the vehicle has two, so that rows do not add up to the totals
	for range callers {
		go func() {
			a, err := d.Answer(t.Context(), db, q)
			if err == nil && (len(a.Rows) != 2 || a.Totals.Values[0] != Whole(90)) {
				err = errors.New("other rows or totals")
			}
			ended <- err
		}()
	}
	for range callers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if left := besides.Load(); left != 0 {
		t.Errorf("%d second questions have not ended", left)
	}
	one := q
	one.Group = "day"
	if a, err := d.Answer(t.Context(), db, one); err != nil || len(a.Rows) != 9 || a.Totals.Values[0] != Whole(90) {
		t.Errorf("by day: %v, %v", a, err)
	}
	// A limit that is met when rows are read; one of memory may be met while names are looked up, and then tells of those.
	small := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_rows_to_read": 1}))
	_, err = d.Answer(small, db, q)
	if fault, ok := errors.AsType[*clickhouse.Exception](err); !ok || fault.Code != 158 {
		t.Errorf("of too many rows: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := d.Answer(gone, db, q); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever asked has gone: %v", err)
	}
}

// Sums of rows are what a question for all of them answers, whatever is in them.
func TestTotalsOfWholeNumbersAreSums(t *testing.T) {
	d := Named("take_rate")
	if !d.addsUp("customer") || d.addsUp("tag") || Named("customers").addsUp("month") ||
		Named("distance").addsUp("month") {
		t.Error("what adds up is not what was thought")
	}
	rows := []Row{{Values: []Value{Whole(3), {}, Whole(-4)}}, {Values: []Value{Whole(4), {}, {}}}}
	sum, err := d.added(rows)
	if err != nil || len(sum) != 1 || sum[0].Values[0] != Whole(7) || sum[0].Values[1].Known() ||
		sum[0].Values[2] != Whole(-4) {
		t.Errorf("%v, %v", sum, err)
	}
	if _, err := d.added([]Row{{Values: []Value{Number(5, 1), {}, {}}}}); err == nil {
		t.Error("a fraction was added up")
	}
}
