package record

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Revision is one entry of a record's history.
type Revision struct {
	Number    uint64
	At        time.Time
	Action    string
	Actor     string
	RequestID string
	Changes   []Change // in the order of their paths
	Body      string   // the record as it was since, as it is stored; empty for kinds that hide members
}

// Change is one member of a record that a revision changed. Old is nil where the member was absent before, New where
// it is absent since. Arrays change as a whole. A hidden member shows neither value.
type Change struct {
	Path string // JSON pointer
	Old  any
	New  any
}

func (l *kindLog) history(ctx context.Context, account fleet.AccountID, id, below uint64,
	limit int) ([]Revision, uint64, error) {
	start := below
	if start == 0 {
		start = math.MaxUint64
	}
	// One more than asked for: its body is what the last one shown is compared with.
	all, err := l.store.revisions(ctx, uint64(account), l.name, id, start, limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(all) == 0 && below == 0 {
		return nil, 0, l.notFound(id)
	}
	shown := all[:min(limit, len(all))]
	var next uint64
	if len(all) > limit {
		next = shown[len(shown)-1].number
	}
	history := make([]Revision, len(shown))
	for i, r := range shown {
		before := "{}"
		if i+1 < len(all) {
			before = all[i+1].body
		}
		changes, err := l.changes(before, r.body)
		if err != nil {
			return nil, 0, fmt.Errorf("compare revisions of %s: %w", l.named(id), err)
		}
		history[i] = Revision{Number: r.number, At: r.at.UTC(), Action: r.action, Actor: r.actor, RequestID: r.requestID,
			Changes: changes}
		if l.hidden == nil {
			history[i].Body = r.body
		}
	}
	return history, next, nil
}

// revisions returns revisions of a record below a number, newest first.
func (s *Store) revisions(ctx context.Context, account uint64, kind string, id, below uint64,
	limit int) ([]revision, error) {
	args := []any{
		clickhouse.Named("account", account), clickhouse.Named("kind", kind), clickhouse.Named("id", id),
		clickhouse.Named("below", below), clickhouse.Named("limit", uint32(limit)),
	}
	doing := fmt.Sprintf("read history of %s %d", kind, id)
	return schemas.AllRows(ctx, s.db, doing, schemas.Query("record_history"), args,
		func(r *revision, row schemas.Row) error {
			r.account, r.kind, r.id = account, kind, id
			return row.Scan(&r.number, &r.writeID, &r.action, &r.at, &r.createdAt, &r.archivedAt, &r.actor, &r.requestID,
				&r.body)
		})
}

func (l *kindLog) changes(before, after string) ([]Change, error) {
	var a, b map[string]any
	if err := json.Unmarshal([]byte(before), &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(after), &b); err != nil {
		return nil, err
	}
	changes := compare("", a, b, nil)
	for i, c := range changes {
		top, _, _ := strings.Cut(c.Path[1:], "/")
		if slices.Contains(l.hidden, top) {
			changes[i].Old, changes[i].New = nil, nil
		}
	}
	return changes, nil
}

// compare appends the members in which two objects differ, objects within them member by member.
func compare(path string, a, b map[string]any, changes []Change) []Change {
	names := make([]string, 0, len(a)+len(b))
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		where := path + "/" + fleet.PointerPart(name)
		inner, isObject := a[name].(map[string]any)
		other, alsoObject := b[name].(map[string]any)
		if isObject && alsoObject {
			changes = compare(where, inner, other, changes)
		} else if !reflect.DeepEqual(a[name], b[name]) {
			changes = append(changes, Change{Path: where, Old: a[name], New: b[name]})
		}
	}
	return changes
}
