package transfer

import (
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

func (a *API) jobRoutes() {
	s := &rest.Resource[record.Job]{
		Server: a.Server, Log: a.jobs, Listing: &query.Jobs,
		Titles: rest.Titles{Path: "/v1/jobs", Tag: "Jobs", Noun: "job", Nouns: "jobs"},
		Scope:  rest.Scopes{Read: auth.TelematicsRead, Write: auth.TelematicsWrite},
		Views:  rest.Views{View: rest.Job{}, Fields: rest.Job{}},
		Show:   a.ShowJobs,
	}
	s.Register("create", "get", "replace", "patch", "archive", "history")
	a.Handle(rest.Route{Method: "GET", Path: s.Path + "/{id}", ID: "getJob", Summary: "Get a job", Tag: s.Tag,
		AnyOf: a.JobScopes(), Reply: rest.Job{},
		About:  "A backfill needs the scope `telematics:read`; an import that to write, and an export that to read, what it is about, or else `telematics:read`.",
		Params: append([]rest.Param{rest.IfNoneMatchParam}, rest.FieldsParams...)},
		func(w http.ResponseWriter, r *http.Request) error {
			if auth.From(r.Context()).Has(auth.TelematicsRead) {
				return s.Get(w, r)
			}
			if _, err := a.jobOf(r, s); err != nil {
				return err
			}
			return s.Get(w, r)
		})
	a.transferRoutes(s)
}
