package user

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/page"
	"github.com/motorpool/fleet/api/record"
)

// LinkPath is the page on which a link of the operator signs somebody in, once.
const LinkPath = "/signin/link"

// linkField marks what is kept of such links.
const linkField = "sign_in_link"

// LinkLasts is how long such a link is good.
const LinkLasts = time.Hour

// SignInLink makes the address at which a person is signed in at a server without a password, once, until a time, and
// until their sessions are ended: for whoever runs the server, and could give the person another password just as
// well. It stands for the password alone, so that a second step is asked for where the person has one.
func SignInLink(ctx context.Context, store *record.Store, server string, account fleet.AccountID, id fleet.UserID,
	until time.Time) (string, error) {
	rec, err := record.NewLog(store, record.Users).Get(ctx, account, uint64(id))
	if err != nil {
		return "", err
	}
	text := secret()
	if _, err := store.Put(ctx, linkField, text, uint64(id), linkDetail(&rec), until); err != nil {
		return "", err
	}
	return strings.TrimRight(server, "/") + LinkPath + "?token=" + url.QueryEscape(text), nil
}

// linkDetail is what is kept of a link: whose it is, and when their sessions were ended last.
func linkDetail(rec *record.Record[record.User]) string {
	return fmt.Sprintf("%d %d", rec.Account, rec.Body.EndedAt.UnixMilli())
}

var linkForm = template.Must(template.New("link").Parse(`<p>This link signs you in as <strong>{{.Name}}</strong>.
It does so once.</p>
<form method="post" action="` + LinkPath + `">
<input type="hidden" name="token" value="{{.Token}}">
<button autofocus>Sign in</button>
</form>`))

const linkFault = "It was used before, has expired, or is not whole. The program that printed it prints another when it " +
	"is started again."

// linked returns the person whom a link is for, and what is kept of the link; nil if it is none that is good.
func (a *API) linked(ctx context.Context, token string) (rec record.Record[record.User], once *record.Once, err error) {
	if len(token) != 43 {
		return rec, nil, nil
	}
	once, err = a.Store.Find(ctx, linkField, token)
	if err != nil || once == nil || once.Used || once.Expired {
		return rec, nil, err
	}
	account, err := strconv.ParseUint(strings.Fields(once.Detail)[0], 10, 64)
	if err != nil {
		return rec, nil, err
	}
	rec, err = a.users.Get(ctx, fleet.AccountID(account), once.Owner)
	if fleet.CodeOf(err) == fleet.CodeNotFound ||
		err == nil && (rec.Archived() || rec.Body.Disabled || once.Detail != linkDetail(&rec)) {
		return rec, nil, nil
	}
	return rec, once, err
}

// linkPage asks before the link is used: what only looks at addresses, as a preview does, uses none.
func (a *API) linkPage(w http.ResponseWriter, r *http.Request) error {
	if ok, err := a.safe(w, r); !ok {
		return err
	}
	if !a.links.Open(a.opener(r)) {
		return errWait
	}
	token := r.URL.Query().Get("token")
	rec, once, err := a.linked(r.Context(), token)
	if err != nil {
		return err
	}
	if once == nil {
		a.links.Fail(a.opener(r))
		return a.say(w, http.StatusNotFound, "This link is not good any more", linkFault)
	}
	return page.Write(w, http.StatusOK, "Sign in", linkForm, map[string]any{"Name": rec.Body.Name, "Token": token})
}

// opener is what links that are none are counted by: the network, and apart from it what a page has a browser ask for,
// as a picture. Another site's page can do that, and must not keep anybody out.
func (a *API) opener(r *http.Request) string {
	if to := r.Header.Get("Sec-Fetch-Dest"); to != "" && to != "document" {
		return a.network(r) + " by a page"
	}
	return a.network(r)
}

// useLink signs the person in whom a link is for.
func (a *API) useLink(w http.ResponseWriter, r *http.Request) error {
	if ok, err := a.safe(w, r); !ok {
		return err
	}
	if !a.links.Open(a.opener(r)) {
		return errWait
	}
	rec, once, err := a.linked(r.Context(), r.PostForm.Get("token"))
	if err != nil {
		return err
	}
	if once != nil {
		first, err := a.Store.Use(r.Context(), once, a.Now().Add(time.Hour))
		if err != nil {
			return err
		}
		if first {
			return a.enter(w, r, &rec, "/map", byLink)
		}
	}
	a.links.Fail(a.opener(r))
	return a.say(w, http.StatusNotFound, "This link is not good any more", linkFault)
}
