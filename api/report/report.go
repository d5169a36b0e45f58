// Package report serves reports: what they are, and what they come to, as JSON and as tables.
//
// A report is a file of schemas/queries, which query/report reads and runs. Here it is asked for, shown with the names
// of what its rows are of, and linked to the entries of the ledger that its figures are made of. Each report has a
// route of its own, so that what it takes is described and checked as everywhere. Make and View do without HTTP, for
// reports that are made at a time.
package report

import (
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// API holds the reports.
type API struct {
	*rest.Server

	accounts *record.Log[record.Account]
}

// New makes reports on a server. It registers nothing.
func New(s *rest.Server, accounts *record.Log[record.Account]) *API {
	return &API{Server: s, accounts: accounts}
}
