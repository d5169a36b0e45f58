// Package eventlog copies the topic of events into the table events, from which /v1/events and resumed streams read.
//
// A Log is the consume.Handler of the topic's one partition. An event's sequence is its offset plus one, so that the
// first is 1 and 0 stands before all of them. Rows of a batch are inserted with the batch's token: a batch that comes
// again changes nothing, and whoever sees a sequence in the table finds all smaller ones there, too. A record that is
// no event is counted, told in the log and skipped; its sequence stays empty. Rows carry no state from batch to batch,
// and Handle blocks until the server has them.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/schemas"
)

// Log writes the table events. It is safe for concurrent use.
type Log struct {
	db      driver.Conn
	log     *slog.Logger
	stored  prometheus.Counter
	refused prometheus.Counter
}

// New prepares a log; it connects to nothing. One registerer takes one Log.
func New(db driver.Conn, registerer prometheus.Registerer, log *slog.Logger) (*Log, error) {
	l := &Log{
		db: db, log: log,
		stored: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "motorpool_eventlog_events_total", Help: "Events that were written to the table of events, with repetitions.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "motorpool_eventlog_undecodable_total", Help: "Records of the topic of events that are no events.",
		}),
	}
	for _, c := range []prometheus.Collector{l.stored, l.refused} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("event log metrics: %w", err)
		}
	}
	return l, nil
}

// Sequence returns the sequence of the event at an offset of its topic.
func Sequence(offset int64) uint64 { return uint64(offset) + 1 }

// Decode reads a record of the topic; the event's body is part of value. The error says why it is no event.
func Decode(value []byte) (fleet.Event, error) {
	e, err := codec.ParseEvent(value)
	if err != nil {
		return e, err
	}
	switch {
	case e.Account == 0:
		return e, errors.New("it is nobody's: no account")
	case e.Type == "" || e.Kind == "" || e.ID == 0:
		return e, errors.New("no id, type or kind")
	case e.At <= 0 || e.At > latest:
		return e, fmt.Errorf("event time of %d ms", e.At)
	}
	return e, nil
}

// latest is earlier than what DateTime64 cannot hold.
const latest fleet.Millis = 9_000_000_000_000 // the year 2255

const insert = "INSERT INTO events (account, sequence, id, type, vehicle, at, noted_at, late, kind, object, revision, body)"

// token names the batch's insert. The time of its last record, which is the same whenever the batch is formed again,
// tells the topic from another that was made under its name and counts from zero again.
func token(b *consume.Batch) string {
	return fmt.Sprintf("%s@%d", b.Token(), b.Records[len(b.Records)-1].Time)
}

// Handle inserts the events of a batch. Retention counts from the records' timestamps, so that a repetition writes the
// same rows. A topic with more than one partition has no order, which is fatal.
func (l *Log) Handle(ctx context.Context, b *consume.Batch) error {
	if b.Partition != 0 {
		return fmt.Errorf("topic %s has more than one partition, so its events have no order: %w", b.Topic, consume.ErrFatal)
	}
	var heard schemas.Verdict
	for turn := 1; ; turn++ {
		accounts, stored, refused, err := l.insert(heard.Of(ctx), schemas.NextToken(token(b), turn), b)
		if err != nil {
			return fmt.Errorf("insert events %s: %w", b.Token(), err)
		}
		if heard.Duplicate > 0 {
			// The server has had the token, and may have been killed before it had the rows.
			var there uint64
			if err := l.db.QueryRow(ctx, schemas.Query("events_between"), clickhouse.Named("accounts", accounts),
				clickhouse.Named("first", Sequence(b.First)), clickhouse.Named("last", Sequence(b.Last))).Scan(&there); err != nil {
				return fmt.Errorf("look for events %s: %w", b.Token(), err)
			}
			if there < uint64(stored) {
				continue
			}
		}
		l.stored.Add(float64(stored))
		l.refused.Add(float64(refused))
		return nil
	}
}

// insert inserts the events of a batch under a token, and returns whose they are, how many there are, and how many
// records are none.
func (l *Log) insert(ctx context.Context, token string,
	b *consume.Batch) (accounts []uint64, stored, refused int, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
	rows, err := l.db.PrepareBatch(ctx, insert)
	if err != nil {
		return nil, 0, 0, err
	}
	defer rows.Close()
	for i := range b.Records {
		r := &b.Records[i]
		if r.Poison != nil { // the consumer has told of it
			refused++
			continue
		}
		e, err := Decode(r.Value)
		if err != nil {
			if refused++; refused == 1 {
				l.log.Warn("a record of the topic of events is no event; it is skipped", "topic", b.Topic, "offset",
					r.Offset, "error", err)
			}
			continue
		}
		if !slices.Contains(accounts, uint64(e.Account)) {
			accounts = append(accounts, uint64(e.Account))
		}
		noted := r.Time
		if noted <= 0 || noted > latest {
			noted = e.At
		}
		err = rows.Append(uint64(e.Account), Sequence(r.Offset), e.ID, e.Type, uint64(e.Vehicle), e.At.Time(),
			noted.Time(), e.Late, string(e.Kind), e.Object, e.Revision, string(e.Body))
		if err != nil {
			return nil, 0, 0, err
		}
	}
	if stored = rows.Rows(); stored > 0 {
		err = rows.Send()
	}
	return accounts, stored, refused, err
}
