package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// turnWait is how long a request waits for others to end before it is refused.
const turnWait = 5 * time.Second

// long begins something that takes long or goes to the client while it is read: a download, a search of an area, a heat
// map. It ends with the request. The connections it returns may be kept as long as that takes. As many such requests as there are
// such connections are under way at once, and of one account no more than its share.
func (a *API) long(w http.ResponseWriter, r *http.Request) (driver.Conn, error) {
	x := exchangeOf(r.Context())
	if x.long {
		return a.Long, nil
	}
	turn := a.longWork.claim(auth.From(r.Context()).Account.String())
	x.ends = append(x.ends, turn.end)
	x.long = true
	return a.Long, a.wait(w, r, turn, 1,
		"Your account has as many downloads and long searches under way as it may. Wait until one has ended, or end one; read what you download without pauses.",
		"As many downloads and long searches are under way as this server does at once. Try again in some seconds.")
}

// wait waits for a request's turn. One that waits in vain is a 429 if its own account is in the way, and a 503 if others are.
func (a *API) wait(w http.ResponseWriter, r *http.Request, turn *claim, n int64, share, all string) error {
	ctx, cancel := context.WithTimeout(r.Context(), turnWait)
	defer cancel()
	err := turn.take(ctx, n)
	if gone := r.Context().Err(); err == nil || gone != nil {
		return gone
	}
	return tooMuch(w, err, share, all)
}

// tooMuch refuses a request for want of a turn.
func tooMuch(w http.ResponseWriter, err error, share, all string) error {
	w.Header().Set("Retry-After", "5")
	if errors.Is(err, errShare) {
		return fleet.NewError(fleet.CodeRateLimited, share)
	}
	return fleet.NewError(fleet.CodeUnavailable, all)
}
