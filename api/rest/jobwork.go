package rest

import (
	"context"
	"io"
	"net/url"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
)

// JobWork is how jobs of a kind are done that write one file. They are leased, taken over and tried again as imports
// and exports are, and their files are downloaded as those are.
type JobWork struct {
	Read    auth.Scope // that it takes to see such a job and its file
	Kept    time.Duration
	Formats []export.Format // of the files
	// Do writes the file. A *fleet.Error says that it cannot be done; any other error that it is tried again.
	Do func(ctx context.Context, job *record.Record[record.Job], file io.Writer) error
}

// Reporter makes reports for those who want them at another time than now.
type Reporter struct {
	Path    string // of the routes of reports, before their names
	Formats []export.Format
	// Write writes a report that is asked for by a principal, with the parameters of its route.
	Write func(ctx context.Context, p *auth.Principal, name string, params url.Values, format export.Format,
		to io.Writer) error
}
