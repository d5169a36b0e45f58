package api

import (
	"context"
	"io"
	"net/url"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/report"
	"github.com/motorpool/fleet/api/rest"
)

// keptRows is how many rows a report in JSON has that is kept: all that it may have.
const keptRows = "10000"

// reporterOf makes reports that are kept. They name customers by their numbers, whoever asks: a file outlives an
// erasure.
func reporterOf(reports *report.API) *rest.Reporter {
	return &rest.Reporter{Path: "/v1/reports/", Formats: export.Reports,
		Write: func(ctx context.Context, p *auth.Principal, name string, params url.Values, format export.Format,
			to io.Writer) error {
			call := report.Call{Name: name, Params: params, Account: p.Account,
				May: func(scope auth.Scope) bool { return scope != auth.CustomersRead && p.Has(scope) }}
			if format == export.JSON {
				params.Set("limit", keptRows)
			} else {
				params.Set("format", string(format))
			}
			v, err := reports.Make(ctx, call)
			if err != nil {
				return err
			}
			if format != export.JSON {
				return v.Write(to, format)
			}
			text, err := rest.EncodeJSON(v, params.Get("units") == "metric")
			if err != nil {
				return err
			}
			_, err = to.Write(text)
			return err
		}}
}
