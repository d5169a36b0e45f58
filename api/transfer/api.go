// Package transfer carries records in and out in bulk: imports and exports of every kind that a resource offers, as
// jobs that one process works on at a time and another goes on with if that one dies.
package transfer

import (
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// API holds the jobs.
type API struct {
	*rest.Server

	jobs     *record.Log[record.Job]
	transfer transferDesk
}

// New makes imports and exports on a server. It registers nothing.
func New(s *rest.Server) *API {
	a := &API{Server: s, jobs: record.NewLog(s.Store, record.Jobs), transfer: newTransferDesk()}
	s.WakeJobs = a.transfer.wake
	return a
}
