package api

import (
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

func (a *API) jobRoutes() {
	s := &resource[record.Job]{
		api: a, log: a.jobs, listing: &query.Jobs,
		titles: titles{path: "/v1/jobs", tag: "Jobs", noun: "job", nouns: "jobs"},
		scope:  scopes{read: auth.TelematicsRead, write: auth.TelematicsWrite},
		views:  views{view: Job{}, fields: Job{}},
		show:   a.showJobs,
	}
	s.register("create", "get", "replace", "patch", "archive", "history")
	a.handle(route{Method: "GET", Path: s.path + "/{id}", ID: "getJob", Summary: "Get a job", Tag: s.tag, AnyOf: a.jobScopes(), Reply: Job{},
		About:  "A backfill needs the scope `telematics:read`; an import that to write, and an export that to read, what it is about, or else `telematics:read`.",
		Params: append([]param{ifNoneMatchParam}, fieldsParams...)}, func(w http.ResponseWriter, r *http.Request) error {
		if auth.From(r.Context()).Has(auth.TelematicsRead) {
			return s.get(w, r)
		}
		if _, err := a.jobOf(r, s); err != nil {
			return err
		}
		return s.get(w, r)
	})
	a.transferRoutes(s)
}
