package sink

import "github.com/motorpool/fleet"

// tagRows are the rows of tag_reports.
type tagRows struct {
	accounts, vehicles list[uint64]
	times              list[int64]
	tags               words
}

// Tag adds what a tracker said of who is logged in.
func (b *Batch) Tag(account fleet.AccountID, report fleet.TagReport) {
	r := &b.tags
	r.accounts.add(uint64(account))
	r.vehicles.add(uint64(report.Vehicle))
	r.times.add(int64(report.At))
	r.tags.add(report.Tag)
}

func (r *tagRows) rows() int       { return len(r.accounts) }
func (r *tagRows) insert() string  { return "INSERT INTO tag_reports (account, vehicle, time, tag)" }
func (r *tagRows) columns() []part { return []part{&r.accounts, &r.vehicles, &r.times, &r.tags} }
