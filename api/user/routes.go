package user

import (
	"net/http"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// User is a person as they are answered: nothing of what proves who they are.
type User struct {
	ID string `json:"id" doc:"Identity." example:"usr_1234"`

	record.UserFields

	Object        string         `json:"object" doc:"Always user." example:"user"`
	Status        string         `json:"status" enum:"invited,active,disabled" doc:"invited until they have chosen a password; disabled people cannot sign in."`
	InvitationURL string         `json:"invitation_url,omitempty" doc:"Where they choose a password; only in the answer that made it."`
	InvitedUntil  record.Instant `json:"invited_until" doc:"How long the invitation that is open can be taken up; null if none is."`
	PasswordSetAt record.Instant `json:"password_set_at" doc:"Null until they have chosen a password."`
	TOTPSince     record.Instant `json:"totp_since" doc:"Since when codes of an app are asked of them; null if they are not."`
	Passkeys      int            `json:"passkeys" doc:"How many passkeys they have."`
	SignedInAt    record.Instant `json:"signed_in_at" doc:"Last; null if never."`
	EndedAt       record.Instant `json:"sessions_ended_at" doc:"When all sessions that they had were last ended together."`

	rest.Stamps
}

// States of people.
const (
	stateInvited  = "invited"
	stateActive   = "active"
	stateDisabled = "disabled"
)

func state(b *record.User) string {
	switch {
	case b.Disabled:
		return stateDisabled
	case b.PasswordHash == "" && !opensAlone(b):
		return stateInvited
	}
	return stateActive
}

func show(rec *record.Record[record.User]) User {
	b := &rec.Body
	view := User{ID: fleet.FormatID(fleet.UserPrefix, rec.ID), UserFields: b.UserFields, Object: "user", Status: state(b),
		PasswordSetAt: b.PasswordSetAt, TOTPSince: b.TOTPSince, Passkeys: len(b.Passkeys), SignedInAt: b.SignedInAt,
		EndedAt: b.EndedAt, InvitedUntil: b.InvitedUntil, Stamps: rest.StampsOf(*rec)}
	return view
}

// Routes registers the people, their sessions, and the pages on which they sign in.
func (a *API) Routes() {
	s := &rest.Resource[record.User]{
		Server: a.Server, Log: a.users, Listing: &query.Users,
		Titles:   rest.Titles{Path: "/v1/users", Tag: "Users", Noun: "user", Nouns: "users"},
		Scope:    rest.Scopes{Read: auth.UsersManage, Write: auth.UsersManage},
		Views:    rest.Views{View: User{}, Fields: record.UserFields{}},
		Writable: func(b *record.User) any { return &b.UserFields },
		Show:     rest.ShowEach(func(rec record.Record[record.User]) any { return show(&rec) }),
		Prepare:  a.prepare,
		Write:    a.write,
	}
	s.Register("create", "batch", "archive")
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: s.Path, ID: "createUser", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Invite a person",
		About: "The answer shows `invitation_url`, this once, which you give to the person: there they choose a password, " +
			"within seven days. That to a repetition with its Idempotency-Key does not show it. A role that may do more than " +
			"who makes the request is a 403.",
		Body: record.UserFields{}, Status: http.StatusCreated, Reply: User{},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.create(s, w, r) })
	a.Handle(rest.Route{
		Method: http.MethodDelete, Path: s.Path + "/{id}", ID: "archiveUser", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Remove a user", Params: []rest.Param{rest.IfMatchParam}, Status: http.StatusNoContent,
		About: "Ends all their sessions, and frees their address. The record stays readable by its id, with `archived_at`. " +
			"The last owner who can sign in is a 409.",
	}, a.remove)
	a.actions(s)
	a.sessionRoutes()
	a.passkeyRoutes()
	a.pages()
}

func (a *API) actions(s *rest.Resource[record.User]) {
	type call = rest.Call[record.User]
	type rec = record.Record[record.User]
	rest.Act(s, rest.Action[record.User, rest.NoBody]{
		Verb: "disable", Summary: "Disable a user", Refuses: "One that is disabled",
		About: "They cannot sign in, and their sessions end. The last owner who can sign in is a 409.",
		Do: func(c *call, _ rest.NoBody) (rec, error) {
			return a.act(c, func(b *record.User, who string) error {
				if b.Disabled {
					return &record.TransitionError{What: who, Current: stateDisabled, Wanted: stateDisabled,
						Allowed: []string{stateActive}}
				}
				b.Disabled = true
				b.EndSessions(a.Now())
				return nil
			})
		},
	})
	rest.Act(s, rest.Action[record.User, rest.NoBody]{
		Verb: "enable", Summary: "Enable a user", Refuses: "One that is not disabled",
		Do: func(c *call, _ rest.NoBody) (rec, error) {
			return a.act(c, func(b *record.User, who string) error {
				if !b.Disabled {
					return &record.TransitionError{What: who, Current: state(b), Wanted: stateActive,
						Allowed: []string{stateDisabled}}
				}
				b.Disabled = false
				return nil
			})
		},
	})
	rest.Act(s, rest.Action[record.User, rest.NoBody]{
		Verb: "reset_password", ID: "resetUserPassword", Summary: "Have a user choose another password", Reply: User{},
		About: "The password that they have opens nothing any more, and their sessions end. The answer shows " +
			"`invitation_url`, this once, where they choose another within seven days. It serves to invite them again too. " +
			"Nobody does it to themselves; the last owner who can sign in is a 409.",
		Answer: func(w http.ResponseWriter, c *call, _ rest.NoBody) error {
			if err := notOneself(c, "/signin/password", "password"); err != nil {
				return err
			}
			var token string
			rec, err := a.act(c, func(b *record.User, _ string) error {
				token = Invite(b, c.Account, c.ID, a.Now())
				return nil
			})
			if err != nil {
				return err
			}
			return a.answerInvited(w, c.Request, http.StatusOK, &rec, token)
		},
	})
	rest.Act(s, rest.Action[record.User, rest.NoBody]{
		Verb: "reset_factors", ID: "resetUserFactors", Summary: "Take the second factors of a user away",
		About: "Codes of an app, recovery codes and passkeys, as after a telephone was lost. Their sessions end. Nobody does " +
			"it to themselves; an owner who has no password, and is the last who can sign in, is a 409.",
		Do: func(c *call, _ rest.NoBody) (rec, error) {
			if err := notOneself(c, securityPath, "second factor"); err != nil {
				return rec{}, err
			}
			return a.act(c, func(b *record.User, _ string) error {
				ResetFactors(b, a.Now())
				return nil
			})
		},
	})
	rest.Act(s, rest.Action[record.User, rest.NoBody]{
		Verb: "end_sessions", ID: "endUserSessions", Summary: "End all sessions of a user",
		About: "They have to sign in again, at every browser.",
		Do: func(c *call, _ rest.NoBody) (rec, error) {
			return a.act(c, func(b *record.User, _ string) error {
				b.EndSessions(a.Now())
				return nil
			})
		},
	})
}

// notOneself refuses people who would change by a session, or by what they granted, what they prove who they are with:
// a page asks them for what they have.
func notOneself(c *rest.Call[record.User], path, what string) error {
	if uint64(auth.From(c.Context()).User) != c.ID {
		return nil
	}
	return fleet.NewError(fleet.CodeForbidden, "Nobody resets their own "+what+" so: change it at "+path+
		", where you are asked for what you have, or ask another owner.")
}

// act changes a person whom an action names, unless they may do more than who asks for it.
func (a *API) act(c *rest.Call[record.User], change func(b *record.User, who string) error) (
	rec record.Record[record.User], err error) {
	p := auth.From(c.Context())
	err = a.keepingOwner(c.Context(), c.Account, c.ID, func(allowed allow) error {
		rec, err = c.Update(allowed.of(func(rec *record.Record[record.User]) error {
			if err := mayGive(p, rec.Body.Role); err != nil {
				return err
			}
			return change(&rec.Body, "user "+fleet.FormatID(fleet.UserPrefix, rec.ID))
		}))
		return err
	})
	return rec, err
}

// mayGive refuses a role that may do what the principal may not: to give it, and to touch who has it.
func mayGive(p *auth.Principal, role string) error {
	for _, scope := range auth.Role(role).Scopes() {
		if !p.Has(scope) {
			return fleet.NewError(fleet.CodeForbidden, p.Lacks()+" the scope "+string(scope)+", which the role "+role+
				" has: nobody gives a role above their own, or changes who has one.",
				fleet.FieldError{Pointer: "/role", Code: "not_held", Detail: "may do more than who makes the request"})
		}
	}
	return nil
}

// prepare refuses a person who could not be, or whom the principal may not touch.
func (a *API) prepare(r *http.Request, _ uint64, before, b *record.User) error {
	if faults := CheckFields(&b.UserFields); faults != nil {
		return rest.ValidationError(faults)
	}
	p := auth.From(r.Context())
	if before != nil {
		if err := mayGive(p, before.Role); err != nil {
			return err
		}
		if before.Email != b.Email || rises(before.Role, b.Role) {
			b.Invitation, b.InvitedUntil = "", record.Instant{} // it went to another address, or was for less
		}
	}
	return mayGive(p, b.Role)
}

// write writes a change of a person, unless it leaves the account without an owner.
func (a *API) write(r *http.Request, w rest.Writing[record.User]) (rec record.Record[record.User], err error) {
	err = a.keepingOwner(r.Context(), auth.From(r.Context()).Account, w.ID, func(allowed allow) error {
		checked := w
		if w.Change != nil {
			checked.Change = allowed.of(w.Change)
		}
		rec, err = checked.To(r, a.users)
		return err
	})
	return rec, err
}

// create writes a person, and shows where they choose a password.
func (a *API) create(s *rest.Resource[record.User], w http.ResponseWriter, r *http.Request) error {
	object, err := rest.ParseObject(rest.RequestBody(r))
	if err != nil {
		return err
	}
	body, err := s.NewBody(r, object)
	if err != nil {
		return err
	}
	id, account := a.NewID(r), auth.From(r.Context()).Account
	token := Invite(&body, account, id, a.Now())
	body.EndedAt = record.Instant{}
	rec, fresh, err := a.users.Create(r.Context(), rest.Author(r), account, id, body)
	if err == nil && !fresh {
		// An earlier attempt got as far as the record, and nobody ever saw its invitation: this one takes its place.
		rec, err = a.update(r.Context(), rest.Author(r), account, id, func(rec *record.Record[record.User]) error {
			rec.Body.Invitation, rec.Body.InvitedUntil = body.Invitation, body.InvitedUntil
			return nil
		})
	}
	if err != nil {
		return err
	}
	base, _, _ := strings.Cut(r.URL.Path, "/v1/")
	w.Header().Set("Location", base+s.Path+"/"+fleet.FormatID(fleet.UserPrefix, rec.ID))
	return a.answerInvited(w, r, http.StatusCreated, &rec, token)
}

// answerInvited answers with a person and their invitation. What is stored for repetitions of the request is without
// it.
func (a *API) answerInvited(w http.ResponseWriter, r *http.Request, status int, rec *record.Record[record.User],
	token string) error {
	view := show(rec)
	var err error
	if rest.ExchangeOf(r.Context()).Unstored, err = rest.EncodeJSON(a.WithAllMembers(view), false); err != nil {
		return err
	}
	view.InvitationURL = Link(a.address(r), token)
	w.Header().Set("ETag", rest.ETagOf(rec.Revision, nil))
	return rest.WriteJSON(w, r, status, a.WithAllMembers(view))
}

// remove disables a person, which can be taken back, and then archives them.
func (a *API) remove(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "user", fleet.UserPrefix)
	if err != nil {
		return err
	}
	p := auth.From(r.Context())
	rec, err := a.users.Get(r.Context(), p.Account, id)
	if err != nil {
		return err
	}
	if rec.Archived() {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err := rest.Precondition(r, rec.Revision); err != nil {
		return err
	}
	if err := mayGive(p, rec.Body.Role); err != nil {
		return err
	}
	if err := a.keepingOwner(r.Context(), p.Account, id, func(allowed allow) error {
		_, err := a.users.Update(r.Context(), rest.Author(r), p.Account, id, 0,
			allowed.of(func(rec *record.Record[record.User]) error {
				if err := mayGive(p, rec.Body.Role); err != nil {
					return err
				}
				rec.Body.Disabled = true
				rec.Body.EndSessions(a.Now())
				rec.Body.Invitation, rec.Body.InvitedUntil = "", record.Instant{}
				return nil
			}))
		return err
	}); err != nil {
		return err
	}
	defer a.people.Remove(personKey{p.Account, fleet.UserID(id)})
	if _, err := a.users.Archive(r.Context(), rest.Author(r), p.Account, id, 0, nil); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
