package oauth

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// OAuthGrant is what a person gave to a client, as it is answered.
type OAuthGrant struct {
	ID       string   `json:"id" doc:"Identity." example:"ogr_1234"`
	Object   string   `json:"object" doc:"Always oauth_grant." example:"oauth_grant"`
	ClientID string   `json:"client_id" doc:"Who may act." example:"ocl_1234"`
	UserID   string   `json:"user_id" doc:"Whose rights they are." example:"usr_1234"`
	Scopes   []string `json:"scopes" nullable:"false" doc:"What was granted. What a token may do is also what the client and the person may do now."`
	Ended    *string  `json:"ended" nullable:"true" enum:"code_reused,refresh_token_reused,revoked_by_client" doc:"Why it was taken away by itself: somebody presented a code or refresh token again, or the client gave it back. Null of one that stands, or that was taken away here."`

	rest.Stamps
}

func (a *API) grantRoutes() {
	s := &rest.Resource[record.OAuthGrant]{
		Server: a.Server, Log: a.grants, Listing: &query.OAuthGrants,
		Titles: rest.Titles{Path: "/v1/oauth_grants", Tag: "OAuth", Noun: "OAuth grant", Nouns: "OAuth grants"},
		Scope:  rest.Scopes{Read: auth.OAuthManage, Write: auth.OAuthManage},
		Views:  rest.Views{View: OAuthGrant{}, Fields: rest.NoBody{}},
		Show: rest.ShowEach(func(rec record.Record[record.OAuthGrant]) any {
			b := &rec.Body
			return OAuthGrant{ID: fleet.FormatID(fleet.GrantPrefix, rec.ID), Object: "oauth_grant", ClientID: b.ClientID,
				UserID: b.UserID, Scopes: rest.NonNil(b.Scopes), Ended: rest.TextOrNull(b.Ended), Stamps: rest.StampsOf(rec)}
		}),
	}
	s.Register("create", "batch", "replace", "patch", "archive")
	a.Handle(rest.Route{
		Method: http.MethodDelete, Path: s.Path + "/{id}", ID: "revokeOAuthGrant", Tag: s.Tag, Scope: auth.OAuthManage,
		Status: http.StatusNoContent, Summary: "Take access away",
		About: "The tokens of the grant are refused within 5 seconds, and its refresh token gives none any more. The grant " +
			"stays readable by its id, with `archived_at`. Other grants of the same person to the same client stand.",
		Params: []rest.Param{rest.IfMatchParam},
	}, func(w http.ResponseWriter, r *http.Request) error {
		id, err := rest.PathID(r, s.Noun, fleet.GrantPrefix)
		if err != nil {
			return err
		}
		if _, err := a.grants.Archive(r.Context(), rest.Author(r), auth.From(r.Context()).Account, id, 0,
			func(rec *record.Record[record.OAuthGrant]) error { return rest.Precondition(r, rec.Revision) }); err != nil {
			return err
		}
		a.states.forget()
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}
