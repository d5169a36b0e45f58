package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// once carries out a POST at most once for its Idempotency-Key. The answer is stored before it is sent; a request
// that was refused gives the key free; one whose outcome is unknown can be repeated, and then works under the same
// reserved id.
func (a *Server) once(w http.ResponseWriter, r *http.Request, h handlerFunc) error {
	key := r.Header.Get("Idempotency-Key")
	if r.Method != http.MethodPost || r.Header.Values("Idempotency-Key") == nil ||
		ExchangeOf(r.Context()).Principal == nil {
		return again(h)(w, r)
	}
	if strings.TrimSpace(key) == "" {
		return InvalidParam("Idempotency-Key", "is empty; leave it out, or give each request one of its own")
	}
	if len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < 0x20 || c > 0x7e }) {
		return InvalidParam("Idempotency-Key", "must be at most 255 printable ASCII characters")
	}
	x, p := ExchangeOf(r.Context()), auth.From(r.Context())
	ticket, err := a.Store.Begin(r.Context(), p.Account, key,
		RequestHash(r.Method, r.URL.Path, r.URL.RawQuery, requester(p), x.Body))
	switch {
	case errors.Is(err, record.ErrKeyReused):
		return fleet.NewError(codeKeyReuse,
			"This Idempotency-Key was used for another request. Use a new key for each request.")
	case errors.Is(err, record.ErrKeyBusy):
		w.Header().Set("Retry-After", "2")
		return fleet.NewError(codeInProgress,
			"A request with this Idempotency-Key is being carried out. Ask again in a moment.")
	case err != nil:
		return err
	case ticket.Answer != nil:
		replay(w, ticket.Answer)
		return nil
	}
	x.Ticket, x.Command = ticket, ticket.Command
	held := &heldAnswer{header: w.Header(), status: http.StatusOK}
	if err := again(h)(held, r); err != nil {
		a.giveBack(r, ticket, err)
		return err
	}
	stored := record.Answer{Status: held.status, Header: map[string]string{}, Body: held.body.String()}
	if x.Unstored != nil {
		stored.Body = string(x.Unstored)
	}
	for _, name := range []string{"Content-Type", "Location", "ETag"} {
		if v := w.Header().Get(name); v != "" {
			stored.Header[name] = v
		}
	}
	if err := ticket.Finish(r.Context(), stored); err != nil {
		// The work is done and must be told; a repetition finds the same record under the reserved id.
		a.Log.WarnContext(r.Context(), "answer not stored", "error", err, "request_id", x.ID)
	}
	w.WriteHeader(held.status)
	_, err = w.Write(held.body.Bytes())
	return err
}

// requester is who makes a request, as their repetitions are told from those of others: a person by one client is
// another one than the same person by another, and than at a browser.
func requester(p *auth.Principal) string {
	if p.Client == 0 {
		return p.Actor()
	}
	return p.Actor() + " " + p.Credential()
}

// RequestHash tells one request from another.
func RequestHash(method, path, query, actor string, body []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s", method, strings.TrimPrefix(path, "/api"),
		query, actor, body))
	return hex.EncodeToString(sum[:])
}

// giveBack settles the key of a request that failed: whoever was refused may try something else with it.
func (a *Server) giveBack(r *http.Request, ticket *record.Ticket, failure error) {
	p, ours := ProblemOf(failure)
	settle := ticket.Reopen
	if !ours && p.Status < http.StatusInternalServerError {
		settle = ticket.Release
	}
	if err := settle(r.Context()); err != nil {
		a.Log.WarnContext(r.Context(), "idempotency key not settled", "error", err, "request_id", RequestID(r.Context()))
	}
}

func replay(w http.ResponseWriter, stored *record.Answer) {
	h := w.Header()
	for name, v := range stored.Header {
		h.Set(name, v)
	}
	h.Set("Idempotency-Replayed", "true")
	w.WriteHeader(stored.Status)
	w.Write([]byte(stored.Body))
}

// heldAnswer keeps an answer until it has been stored. Headers go to the real one at once.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldAnswer) Header() http.Header         { return h.header }
func (h *heldAnswer) WriteHeader(status int)      { h.status = status }
func (h *heldAnswer) Write(p []byte) (int, error) { return h.body.Write(p) }

// again carries a request out once more, with another id for what it makes, when the one that it had is
// another record's.
func again(h handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		x := ExchangeOf(r.Context())
		for {
			err := h(w, r)
			if !errors.Is(err, record.ErrTaken) || x.started || r.Context().Err() != nil {
				return err
			}
			x.taken++
		}
	}
}

// NewID returns the id of a record that the request creates: the one that its idempotency key reserved, or a new one. A
// repetition passes over those that were taken as the first attempt did.
func (a *Server) NewID(r *http.Request) uint64 {
	x := ExchangeOf(r.Context())
	if t := x.Ticket; t == nil {
		id, over := a.Store.DrawID()
		x.Drawn, x.turns = id, append(x.turns, over)
	} else {
		x.Drawn = t.ID
		for range x.taken {
			x.Drawn = a.Store.Another(Author(r), x.Drawn)
		}
	}
	if x.Ticket == nil || !x.Ticket.Again {
		x.born = x.Drawn
	}
	return x.Drawn
}

// Author names who makes the request, for the audit trail, and the command that it belongs to: so a repetition after it
// was cut short knows what was done already.
func Author(r *http.Request) record.Author {
	x := ExchangeOf(r.Context())
	return record.Author{Actor: auth.From(r.Context()).Actor(), RequestID: x.ID, Command: x.Command,
		Again: x.Ticket != nil && x.Ticket.Again && x.Ticket.Command != 0}
}

// DerivedRecordID names the record of one of several items by what they belong to, so that a repetition names it alike.
func DerivedRecordID(of uint64, item int) uint64 {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "item %d of %d", item, of)
	return max(hash.Sum64()>>1, 1)
}
