package user

import (
	"net/http"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Session is the time for which a person is signed in at one browser, as it is answered.
type Session struct {
	ID         string         `json:"id" doc:"Identity." example:"ses_1234"`
	Object     string         `json:"object" doc:"Always session." example:"session"`
	UserID     string         `json:"user_id" example:"usr_1234"`
	Current    bool           `json:"current" doc:"It is the one that makes this request."`
	Address    string         `json:"address" doc:"From which the person signed in." example:"192.0.2.1"`
	Agent      string         `json:"agent" doc:"What the browser called itself."`
	BeganAt    record.Instant `json:"began_at"`
	LastSeenAt record.Instant `json:"last_seen_at" doc:"To the minute."`
	ExpiresAt  record.Instant `json:"expires_at" doc:"At the latest; 12 hours after its last use it ends before that."`
}

func (a *API) sessionRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/sessions", ID: "listSessions", Tag: "Users", Summary: "List sessions",
		About: "Those of the person who asks, the newest first. With `user_id`, or for a key or an access token, it needs the scope " +
			"`users:manage`: those of that person, or of the whole account.",
		Params: append([]rest.Param{{Name: "user_id", NotEmpty: true, About: "Whose sessions."}}, rest.PageParams...),
		Reply:  a.ListSchema(Session{}),
	}, a.listSessions)
	a.Handle(rest.Route{
		Method: http.MethodDelete, Path: "/v1/sessions/{id}", ID: "endSession", Tag: "Users", Summary: "End a session",
		About:  "One's own, or with the scope `users:manage` that of anybody in the account who may do no more.",
		Status: http.StatusNoContent,
	}, a.endSession)
}

// live are the sessions of a person, or with zero of an account, that still let somebody in.
func (a *API) live(account fleet.AccountID, user fleet.UserID) query.SessionFilter {
	now := a.Now()
	return query.SessionFilter{Account: account, User: user, Since: now.Add(-Whole), Idle: now.Add(-Idle), Limit: 1}
}

func (a *API) listSessions(w http.ResponseWriter, r *http.Request) error {
	p := auth.From(r.Context())
	user := p.User
	if text := rest.TextParam(r, "user_id", ""); text != "" {
		id, err := fleet.ParseID(fleet.UserPrefix, text)
		if err != nil {
			return rest.InvalidParam("user_id", "is not an id of a user")
		}
		user = fleet.UserID(id)
	}
	if user == 0 || user != p.User || p.Session == 0 { // a program with a token of theirs is not the person
		if err := rest.RequireScope(p, auth.UsersManage); err != nil {
			return err
		}
	}
	page, err := rest.PageOf(r, r.URL.Path)
	if err != nil {
		return err
	}
	f := a.live(p.Account, user)
	if page.After != nil {
		after, err := strconv.ParseUint(page.After[0], 10, 64)
		if err != nil {
			return rest.InvalidParam("cursor", "is not a next_cursor of this list")
		}
		f.After = fleet.SessionID(after)
	}
	f.Offset, f.Limit = page.Offset(), page.PerPage+1
	found, total, err := query.Sessions(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	var after []string
	if len(found) > page.PerPage {
		found = found[:page.PerPage]
		after = []string{strconv.FormatUint(uint64(found[page.PerPage-1].ID), 10)}
	}
	data := make([]Session, len(found))
	for i, s := range found {
		data[i] = Session{ID: s.ID.String(), Object: "session", UserID: s.User.String(), Current: s.ID == p.Session,
			Address: s.Address, Agent: s.Agent, BeganAt: record.InstantOf(s.BeganAt),
			LastSeenAt: record.InstantOf(s.SeenAt.Truncate(time.Second)), ExpiresAt: record.InstantOf(s.BeganAt.Add(Whole))}
	}
	return rest.WriteList(w, r, r.URL.Path, page, data, total, after)
}

func (a *API) endSession(w http.ResponseWriter, r *http.Request) error {
	p := auth.From(r.Context())
	if p.Session == 0 {
		if err := rest.RequireScope(p, auth.UsersManage); err != nil {
			return err
		}
	}
	id, err := rest.PathID(r, "session", fleet.SessionPrefix)
	if err != nil {
		return err
	}
	of := p.User
	if p.Has(auth.UsersManage) {
		of = 0
	}
	f := a.live(p.Account, of)
	f.ID = fleet.SessionID(id)
	found, _, err := query.Sessions(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fleet.NewError(fleet.CodeNotFound, "There is no session "+fleet.FormatID(fleet.SessionPrefix, id)+".")
	}
	if s := &found[0]; s.User != p.User {
		is, err := a.who(r.Context(), s.Account, s.User)
		if err == nil {
			err = mayGive(p, string(is.role))
		}
		if err != nil {
			return err
		}
	}
	if err := a.end(r, &found[0], p.Actor(), wasEnded); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
