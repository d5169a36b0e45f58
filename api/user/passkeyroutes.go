package user

import (
	"net/http"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// PasskeyFields are what is written of a passkey.
type PasskeyFields struct {
	Name string `json:"name" minLength:"1" maxLength:"60" doc:"What its person calls it." example:"My telephone"`
}

// Passkey is a passkey of a person as it is answered.
type Passkey struct {
	ID string `json:"id" doc:"Identity." example:"pky_1234"`

	PasskeyFields

	Object     string         `json:"object" doc:"Always passkey." example:"passkey"`
	UserID     string         `json:"user_id" doc:"Whose it is." example:"usr_1234"`
	CreatedAt  record.Instant `json:"created_at" doc:"When it was registered."`
	LastUsedAt record.Instant `json:"last_used_at" doc:"Null if never."`
}

func showPasskey(user uint64, p *record.Passkey) Passkey {
	return Passkey{ID: p.ID, PasskeyFields: PasskeyFields{p.Name}, Object: "passkey",
		UserID: fleet.FormatID(fleet.UserPrefix, user), CreatedAt: p.AddedAt, LastUsedAt: p.LastUsedAt}
}

func (a *API) passkeyRoutes() {
	const path, one = "/v1/users/{id}/passkeys", "/v1/users/{id}/passkeys/{passkey}"
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: path, ID: "listPasskeys", Tag: "Users", Summary: "List the passkeys of a user",
		About: "One's own, or with the scope `users:manage` those of anybody in the account. They are registered on the page " +
			"`/signin/security`.",
		Params: rest.PageParams, Reply: a.ListSchema(Passkey{}),
	}, a.listPasskeys)
	a.Handle(rest.Route{
		Method: http.MethodPatch, Path: one, ID: "updatePasskey", Tag: "Users", Summary: "Name a passkey",
		About: "One's own, or with the scope `users:manage` that of anybody in the account who may do no more.",
		Body:  PasskeyFields{}, Reply: Passkey{},
	}, a.namePasskey)
	a.Handle(rest.Route{
		Method: http.MethodDelete, Path: one, ID: "deletePasskey", Tag: "Users", Summary: "Remove a passkey",
		About: "That of anybody in the account who may do no more, with the scope `users:manage`. It opens nothing from then " +
			"on, and all sessions of the person end. One's own is removed on the page `/signin/security`, which asks for the " +
			"password. That with which the last owner signs in is a 409.",
		Status: http.StatusNoContent,
	}, a.deletePasskey)
}

// mayManage refuses who may not see, or with change not touch, what a person of the path proves who they are with.
func (a *API) mayManage(r *http.Request, change bool) (id uint64, err error) {
	p := auth.From(r.Context())
	id, err = rest.PathID(r, "user", fleet.UserPrefix)
	if err == nil && uint64(p.User) == id && p.Session != 0 { // not a program with a token of theirs
		return id, nil
	}
	if lacks := rest.RequireScope(p, auth.UsersManage); lacks != nil {
		return 0, lacks
	}
	if err != nil || !change {
		return id, err
	}
	rec, err := a.users.Get(r.Context(), p.Account, id)
	if err != nil {
		return 0, err
	}
	return id, mayGive(p, rec.Body.Role)
}

func (a *API) listPasskeys(w http.ResponseWriter, r *http.Request) error {
	id, err := a.mayManage(r, false)
	if err != nil {
		return err
	}
	page, err := rest.PageOf(r, r.URL.Path)
	if err != nil {
		return err
	}
	rec, err := a.users.Get(r.Context(), auth.From(r.Context()).Account, id)
	if err != nil {
		return err
	}
	all := rec.Body.Passkeys
	from := page.Offset()
	if page.After != nil {
		if from = 1 + slices.IndexFunc(all, func(p record.Passkey) bool { return p.ID == page.After[0] }); from == 0 {
			return rest.InvalidParam("cursor", "is not a next_cursor of this list, or its passkey was removed")
		}
	}
	shown := all[min(from, len(all)):min(from+page.PerPage, len(all))]
	var after []string
	if from+len(shown) < len(all) && len(shown) > 0 {
		after = []string{shown[len(shown)-1].ID}
	}
	data := make([]Passkey, len(shown))
	for i := range shown {
		data[i] = showPasskey(id, &shown[i])
	}
	return rest.WriteList(w, r, r.URL.Path, page, data, len(all), after)
}

// errNoPasskey says that a person has no passkey of an id.
func errNoPasskey(id string) error {
	return fleet.NewError(fleet.CodeNotFound, "The user has no passkey "+id+".")
}

func (a *API) namePasskey(w http.ResponseWriter, r *http.Request) error {
	user, err := a.mayManage(r, true)
	if err != nil {
		return err
	}
	number, err := rest.NamedID(r, "passkey", "passkey", fleet.PasskeyPrefix)
	if err != nil {
		return err
	}
	var fields PasskeyFields
	if err := a.DecodeBody(r, &fields); err != nil {
		return err
	}
	id := fleet.FormatID(fleet.PasskeyPrefix, number)
	at := -1
	rec, err := a.update(r.Context(), rest.Author(r), auth.From(r.Context()).Account, user,
		func(rec *record.Record[record.User]) error {
			b := &rec.Body
			if at = slices.IndexFunc(b.Passkeys, func(p record.Passkey) bool { return p.ID == id }); at < 0 {
				return errNoPasskey(id)
			}
			b.Passkeys = slices.Clone(b.Passkeys)
			b.Passkeys[at].Name = passkeyName(fields.Name)
			return nil
		})
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, showPasskey(user, &rec.Body.Passkeys[at]))
}

func (a *API) deletePasskey(w http.ResponseWriter, r *http.Request) error {
	p := auth.From(r.Context())
	user, err := a.mayManage(r, true)
	if err != nil {
		return err
	}
	number, err := rest.NamedID(r, "passkey", "passkey", fleet.PasskeyPrefix)
	if err != nil {
		return err
	}
	if uint64(p.User) == user {
		return fleet.NewError(fleet.CodeForbidden, "Nobody removes their own passkey so: do it at "+securityPath+
			", where you are asked for your password, or ask another owner.")
	}
	id := fleet.FormatID(fleet.PasskeyPrefix, number)
	if err := a.keepingOwner(r.Context(), p.Account, user, func(allowed allow) error {
		_, err := a.users.Update(r.Context(), rest.Author(r), p.Account, user, 0,
			allowed.of(func(rec *record.Record[record.User]) error {
				if err := mayGive(p, rec.Body.Role); err != nil {
					return err
				}
				if !a.dropPasskey(&rec.Body, id) {
					return errNoPasskey(id)
				}
				return nil
			}))
		return err
	}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
