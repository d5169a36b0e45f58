package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/pace"
)

// TurnWait is how long a request waits for others to end before it is refused.
const TurnWait = 5 * time.Second

// LongTurn begins something that takes long or goes to the client while it is read: a download, a search of an area, a
// heat map. It ends with the request. The connections it returns may be kept as long as that takes. As many such
// requests as there are such connections are under way at once, and of one account no more than its share.
func (a *Server) LongTurn(w http.ResponseWriter, r *http.Request) (driver.Conn, error) {
	x := ExchangeOf(r.Context())
	if x.long {
		return a.Long, nil
	}
	turn := a.longWork.Claim(auth.From(r.Context()).Account.String())
	x.ends = append(x.ends, turn.End)
	x.long = true
	return a.Long, a.wait(w, r, turn, 1,
		"Your account has as many downloads and long searches under way as it may. Wait until one has ended, or end one; read what you download without pauses.",
		"As many downloads and long searches are under way as this server does at once. Try again in some seconds.")
}

// wait waits for a request's turn. One that waits in vain is a 429 if its own account is in the way, and a 503
// if others are.
func (a *Server) wait(w http.ResponseWriter, r *http.Request, turn *pace.Claim, n int64, share, all string) error {
	ctx, cancel := context.WithTimeout(r.Context(), TurnWait)
	defer cancel()
	err := turn.Take(ctx, n)
	if gone := r.Context().Err(); err == nil || gone != nil {
		return gone
	}
	return tooMuch(w, err, share, all)
}

// tooMuch refuses a request for want of a turn.
func tooMuch(w http.ResponseWriter, err error, share, all string) error {
	w.Header().Set("Retry-After", "5")
	if errors.Is(err, pace.ErrShare) {
		return fleet.NewError(fleet.CodeRateLimited, share)
	}
	return fleet.NewError(fleet.CodeUnavailable, all)
}
