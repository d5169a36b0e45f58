package person

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/driver"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// heldTag is a tag that a person who is erased has or had.
type heldTag struct {
	id     uint64
	values []string          // under which it was kept, over its revisions
	spans  []fleet.TagHolder // of the person, as they were written last
	shared bool              // others have or had it: it stays theirs
	newest record.DriverTag
}

// tagsOf finds the tags that the person has or had, by all their revisions.
func (d *Persons) tagsOf(ctx context.Context, account fleet.AccountID, names []string) ([]heldTag, error) {
	ids, err := query.TagsEverHeld(ctx, d.DB, account, names)
	if err != nil {
		return nil, err
	}
	all := make([]heldTag, len(ids))
	for i, id := range ids {
		bodies, err := d.Tags.Everything(ctx, account, id)
		if err != nil {
			return nil, err
		}
		t := &all[i]
		t.id = id
		for _, body := range bodies {
			if body.Tag != "" && !slices.Contains(t.values, body.Tag) {
				t.values = append(t.values, body.Tag)
			}
			others := func(span fleet.TagHolder) bool { return !slices.Contains(names, span.Driver) }
			if spans := slices.DeleteFunc(body.Spans(), others); len(spans) > 0 {
				t.spans = spans
			}
			t.newest = body
		}
		t.shared = slices.ContainsFunc(t.newest.Holders, func(h record.TagHolder) bool {
			return !slices.Contains(names, h.DriverID)
		})
	}
	return all, nil
}

// wipeTags takes the person out of the last revisions of its tags, and what trackers said of it while it had them. A
// tag that is nobody else's goes with the person.
func (d *Persons) wipeTags(
	ctx context.Context, by record.Author, account fleet.AccountID, names []string, tags []heldTag,
) error {
	for i := range tags {
		t := &tags[i]
		for _, value := range t.values {
			if err := d.forgetReports(ctx, account, value, names, t.spans); err != nil {
				return err
			}
		}
		if !t.shared {
			if _, err := d.Tags.Wipe(ctx, by, account, t.id,
				func(tag *record.DriverTag) { *tag = record.DriverTag{} }); err != nil {
				return err
			}
			continue
		}
		without := func(tag *record.DriverTag) {
			tag.Holders = slices.DeleteFunc(slices.Clone(tag.Holders), func(h record.TagHolder) bool {
				return slices.Contains(names, h.DriverID)
			})
		}
		rec, err := d.Tags.Get(ctx, account, t.id)
		if err == nil && rec.ArchivedAt.IsZero() {
			_, err = d.Tags.Update(ctx, by, account, t.id, 0, func(rec *record.Record[record.DriverTag]) error {
				without(&rec.Body)
				return nil
			})
		} else if err == nil {
			_, err = d.Tags.Wipe(ctx, by, account, t.id, without)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetReports removes what trackers reported of a tag up to now during some spans of a person, but for the time that
// is somebody else's by now: the person may have been written down by mistake.
func (d *Persons) forgetReports(
	ctx context.Context, account fleet.AccountID, tag string, names []string, spans []fleet.TagHolder,
) error {
	holders, err := query.TagHolders(ctx, d.DB, account, []string{tag})
	if err != nil {
		return err
	}
	var hash uint64
	if err := d.DB.QueryRow(ctx, schemas.Query("tag_hash"), clickhouse.Named("tag", tag)).Scan(&hash); err != nil {
		return fmt.Errorf("erase reports of a tag: %w", err)
	}
	for _, span := range ownOf(spans, holders[tag], names, fleet.MillisOf(d.Now())) {
		if err := d.DB.Exec(ctx, schemas.Query("tag_reports_forget"), clickhouse.Named("account", uint64(account)),
			clickhouse.Named("tag", hash), clickhouse.Named("from", int64(span.From)),
			clickhouse.Named("to", int64(span.To))); err != nil {
			return fmt.Errorf("erase reports of a tag: %w", err)
		}
	}
	return nil
}

// ownOf returns what of some spans of a person, up to now, is nobody else's. Of holders, the first that has an instant
// is the one whose it is.
func ownOf(spans, holders []fleet.TagHolder, names []string, now fleet.Millis) []driver.Span {
	span := func(h fleet.TagHolder) driver.Span {
		to := now + 1
		if h.To != 0 {
			to = min(h.To, to)
		}
		return driver.Span{From: max(h.From, 0), To: to}
	}
	var left, own []driver.Span
	for _, h := range spans {
		left = append(left, span(h))
	}
	for _, h := range holders {
		if slices.Contains(names, h.Driver) {
			own = append(own, driver.Within(left, span(h))...)
		}
		left = driver.Without(left, []driver.Span{span(h)})
	}
	return driver.Union(append(own, left...))
}

// forgetTags takes the person out of the earlier revisions of its tags.
func (d *Persons) forgetTags(ctx context.Context, account fleet.AccountID, tags []heldTag) error {
	for i := range tags {
		forget := d.Tags.Forget
		if tags[i].shared {
			forget = d.Tags.ForgetEarlier
		}
		if err := forget(ctx, account, query.DriverTags.Table, tags[i].id); err != nil {
			return err
		}
	}
	return nil
}
