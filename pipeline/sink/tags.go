package sink

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// tagRows are the rows of tag_reports.
type tagRows struct {
	accounts, vehicles []uint64
	times              []int64
	tags               []any
}

// Tag adds what a tracker said of who is logged in.
func (b *Batch) Tag(account fleet.AccountID, report fleet.TagReport) {
	r := &b.tags
	r.accounts = append(r.accounts, uint64(account))
	r.vehicles = append(r.vehicles, uint64(report.Vehicle))
	r.times = append(r.times, int64(report.At))
	r.tags = append(r.tags, report.Tag)
}

func (r *tagRows) reset() {
	r.accounts, r.vehicles, r.times, r.tags = r.accounts[:0], r.vehicles[:0], r.times[:0], r.tags[:0]
}

func (r *tagRows) rows() int      { return len(r.accounts) }
func (r *tagRows) insert() string { return "INSERT INTO tag_reports (account, vehicle, time, tag)" }

func (r *tagRows) fill(into driver.Batch, _ Source) error {
	f := filler{batch: into}
	f.column(r.accounts)
	f.column(r.vehicles)
	f.column(r.times)
	f.words(r.tags)
	return f.err
}
