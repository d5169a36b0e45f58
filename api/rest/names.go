package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// anyID is an identity in a text for people. What is quoted (an address, what was sent) and paths are found too,
// without a kind: they are meant to the letter.
var anyID = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|/v1/\\S*|\\b([a-z]{2,3}_)[0-9]+\\b")

// Kind is what lists, filters and texts know of a kind of records that others name.
type Kind struct {
	Log        string     // its name in the log
	Read       auth.Scope // that it takes to read one
	NamedBy    []string   // filters of other kinds that ask for ids of it
	EventScope auth.Scope // that it takes to hear of one, if not Read
	Open       bool       // it may be spoken of to those who may not read it
	// what people call one, if anything; may says that the caller may read it
	NameOf func(c *NameFields, may bool) string
}

// NameFields is what bodies of all these kinds say of what people call them.
type NameFields struct {
	Number      string `json:"number"`
	Name        string `json:"name"`
	Plate       string `json:"license_plate"`
	Nickname    string `json:"nickname"`
	FleetNumber string `json:"fleet_number"`
	Make        string `json:"make"`
	Model       string `json:"model"`
	DisplayName string `json:"display_name"`
	FirstName   string `json:"first_name"`
	LastName    string `json:"last_name"`
	UniqueID    string `json:"unique_id"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	Vendor      string `json:"vendor"`
	Category    string `json:"category"`
}

// NameIDs puts plates, names and numbers in the place of the ids of an account's records in texts for people, as far as
// the caller may hear them. An id of which there is no record, or that could not be read in a moment, stays.
func (a *Server) NameIDs(ctx context.Context, account fleet.AccountID, may func(auth.Scope) bool, texts ...*string) {
	var refs []record.Ref
	for _, text := range texts {
		for _, m := range anyID.FindAllStringSubmatch(*text, -1) {
			if k, ok := a.Kinds[m[1]]; ok && k.NameOf != nil && (k.Open || may(k.Read)) {
				if id, err := fleet.ParseID(m[1], m[0]); err == nil {
					refs = append(refs, record.Ref{Kind: k.Log, ID: id})
				}
			}
		}
	}
	if refs == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	seen, err := a.Store.Recall(ctx, account, refs...)
	if err != nil {
		a.Log.WarnContext(ctx, "a text keeps its ids", "error", err)
		return
	}
	for _, text := range texts {
		*text = anyID.ReplaceAllStringFunc(*text, func(id string) string {
			prefix := anyID.FindStringSubmatch(id)[1]
			k := a.Kinds[prefix]
			n, err := fleet.ParseID(prefix, id)
			body, ok := seen.Body(record.Ref{Kind: k.Log, ID: n})
			var c NameFields
			if err != nil || !ok || json.Unmarshal([]byte(body), &c) != nil {
				return id
			}
			return cmp.Or(k.NameOf(&c, may(k.Read)), id)
		})
	}
}

// MayHear says what the caller may hear; nothing that needs a scope, where nobody asks.
func MayHear(ctx context.Context) func(auth.Scope) bool {
	x, ok := ctx.Value(ExchangeKey{}).(*Exchange)
	return func(scope auth.Scope) bool { return ok && x.Principal != nil && x.Principal.Has(scope) }
}

// tell puts names in the place of ids in what a problem says.
func (a *Server) tell(ctx context.Context, p *Problem) {
	x, ok := ctx.Value(ExchangeKey{}).(*Exchange)
	if !ok || x.Principal == nil {
		return
	}
	texts := []*string{&p.Detail}
	for i := range p.Errors {
		texts = append(texts, &p.Errors[i].Detail)
	}
	a.NameIDs(ctx, x.Principal.Account, x.Principal.Has, texts...)
}
