package schemas_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// firstNumbers is a query of numbers in many small blocks, and what sets how many.
const firstNumbers = "SELECT number FROM numbers({n:UInt64}) SETTINGS max_block_size = 1000"

func upTo(n uint64) []any { return []any{clickhouse.Named("n", n)} }

func scanNumber(n *uint64, row schemas.Row) error { return row.Scan(n) }

func TestRowsAreReadInTheirOrder(t *testing.T) {
	db := schematest.Empty(t)
	all, err := schemas.AllRows(t.Context(), db, "count", firstNumbers, upTo(2500), scanNumber)
	if err != nil || len(all) != 2500 {
		t.Fatalf("%d rows and %v, not 2500", len(all), err)
	}
	for i, n := range all {
		if n != uint64(i) {
			t.Fatalf("row %d is %d", i, n)
		}
	}
	none, err := schemas.AllRows(t.Context(), db, "count", firstNumbers, upTo(0), scanNumber)
	if err != nil || none != nil {
		t.Errorf("of no rows came %v and %v", none, err)
	}
}

func TestOneRowIsOneOrNone(t *testing.T) {
	db := schematest.Empty(t)
	if n, ok, err := schemas.OneRow(t.Context(), db, "count", firstNumbers, upTo(1), scanNumber); n != 0 ||
		!ok || err != nil {
		t.Errorf("of one row came %d, %v and %v", n, ok, err)
	}
	if n, ok, err := schemas.OneRow(t.Context(), db, "count", firstNumbers, upTo(0), scanNumber); n != 0 ||
		ok || err != nil {
		t.Errorf("of no row came %d, %v and %v", n, ok, err)
	}
	if _, ok, err := schemas.OneRow(t.Context(), db, "count", "SELECT nothing", nil, scanNumber); ok ||
		!said(err, "count: ") {
		t.Errorf("of a query that fails came %v and %v", ok, err)
	}
}

func TestReadingEndsWithEnoughRowsAndTheConnectionGoesOn(t *testing.T) {
	db := schematest.Empty(t)
	var seen []uint64
	err := schemas.EachRow(t.Context(), db, "count", firstNumbers, upTo(5000), func(row schemas.Row) error {
		if len(seen) == 3 {
			return schemas.ErrEnough
		}
		seen = append(seen, 0)
		return row.Scan(&seen[len(seen)-1])
	})
	if err != nil || !slices.Equal(seen, []uint64{0, 1, 2}) {
		t.Errorf("read %v and %v", seen, err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWhatGoesWrongIsWrappedOnceWithWhatWasBeingDone makes each step of a reading fail.
func TestWhatGoesWrongIsWrappedOnceWithWhatWasBeingDone(t *testing.T) {
	db := schematest.Empty(t)
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		text string
		read func(n *uint64, row schemas.Row) error
		want string // behind what was being done
	}{
		"the query":       {"SELECT nothing", scanNumber, "code: 47"},
		"the columns":     {"SELECT 'text'", scanNumber, "clickhouse"},
		"what reads them": {"SELECT 1", func(*uint64, schemas.Row) error { return broken }, "broken"},
		"a later block": {
			"SELECT number + throwIf(number = 50000) FROM numbers(100000) SETTINGS max_block_size = 1000",
			scanNumber, "code: 395",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := schemas.AllRows(t.Context(), db, "count", c.text, nil, c.read)
			if all != nil || !said(err, "count: "+c.want) || strings.Count(err.Error(), "count: ") != 1 {
				t.Errorf("came %d rows and %v", len(all), err)
			}
		})
	}
	if _, err := schemas.AllRows(t.Context(), db, "count", "SELECT 1", nil, func(*uint64, schemas.Row) error {
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("%v is not the error that was returned", err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	db := schematest.Empty(t)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := schemas.EachRow(ctx, db, "count", firstNumbers, upTo(100_000_000), func(schemas.Row) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || !said(err, "count: ") || n >= 100_000_000 {
		t.Errorf("after %d rows came %v", n, err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRowsOfAConnectionThatBreaksAreAnError reads through a wire that is cut in the middle of the answer.
func TestRowsOfAConnectionThatBreaksAreAnError(t *testing.T) {
	config := schematest.Config(t)
	wire := newWire(t, config.Addrs[0])
	config.Addrs = []string{wire.Addr().String()}
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	n := 0
	err = schemas.EachRow(t.Context(), db, "count", firstNumbers, upTo(100_000_000), func(schemas.Row) error {
		if n++; n == 10 {
			wire.cut()
		}
		return nil
	})
	if !said(err, "count: ") || n < 10 || n >= 100_000_000 {
		t.Errorf("after %d rows came %v", n, err)
	}
}

// wire takes connections for a server and can be cut.
type wire struct {
	net.Listener
	ends chan net.Conn
}

func newWire(t *testing.T, server string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener, make(chan net.Conn, 100)}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			w.ends <- client
			w.ends <- to
			go io.Copy(to, client)
			go io.Copy(client, to)
		}
	}()
	return w
}

// cut breaks what is connected and takes nothing more.
func (w *wire) cut() {
	w.Close()
	for {
		select {
		case end := <-w.ends:
			end.Close()
		default:
			return
		}
	}
}

func said(err error, beginning string) bool {
	return err != nil && strings.HasPrefix(err.Error(), beginning)
}
