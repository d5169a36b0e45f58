package user

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/auth"
)

// A browser in which a person has signed in keeps a cookie that says so: random, and sealed for that person. Attempts
// with it are counted by it alone, so that whoever guesses elsewhere, from however many networks, keeps nobody out who
// has been here before; and whoever stole it guesses no more than one network may. Without a key of seals there is
// none.

// deviceLives is how long browsers keep it, each time that it is made anew.
const deviceLives = 400 * 24 * time.Hour

// deviceCookie is what the names of these cookies begin with, after what browsers ask for.
const deviceCookie = "motorpool_device_"

// hasDevice says whether a browser shows that anybody has signed in there, or pretends to.
func hasDevice(r *http.Request) bool {
	return slices.ContainsFunc(r.Cookies(), func(c *http.Cookie) bool { return strings.Contains(c.Name, deviceCookie) })
}

// deviceOf is what is sealed for whom, by their address: one browser may be that of several people.
func (a *API) deviceOf(r *http.Request, email string) (cookie, purpose string) {
	of := auth.Hash(email)
	if cookie = deviceCookie + of[:16]; a.secure(r) {
		cookie = "__Host-" + cookie
	}
	return cookie, "device/" + of
}

// device is what the attempts of a browser are counted by, in which a person has signed in before; else "".
func (a *API) device(r *http.Request, email string) string {
	name, purpose := a.deviceOf(r, email)
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	text, err := a.Settings.Keys.Open(purpose, cookie.Value)
	if err != nil {
		return ""
	}
	return text
}

// remember has a browser show from now on that a person has signed in there.
func (a *API) remember(w http.ResponseWriter, r *http.Request, email string) {
	name, purpose := a.deviceOf(r, email)
	had := a.device(r, email)
	if cookie, err := r.Cookie(name); err == nil && had != "" && !a.Settings.Keys.Stale(cookie.Value) {
		return
	}
	sealed, err := a.Settings.Keys.Seal(purpose, cmp.Or(had, secret())) // another key: the same browser
	if err != nil {
		return // there is no key: what counts for all counts here, too
	}
	http.SetCookie(w, &http.Cookie{Name: name, Value: sealed, Path: "/", HttpOnly: true, Secure: a.secure(r),
		SameSite: http.SameSiteLaxMode, MaxAge: int(deviceLives.Seconds())})
}
