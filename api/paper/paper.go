// Package paper serves the papers of an account: invoices, credit notes, receipts, deposit statements, rental
// agreements and owners' statements, as JSON and as PDF. What stands on them, and their numbers, is decided in
// api/desk/paper.
package paper

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	desks "github.com/motorpool/fleet/api/desk/paper"
	"github.com/motorpool/fleet/api/paper/pdf"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// API holds the resources of papers.
type API struct {
	*rest.Server
	papers *desks.Papers
}

// New makes the room on a server. It registers nothing.
func New(s *rest.Server, d *desk.Desk) *API { return &API{Server: s, papers: d.Papers} }

// BusinessPaper is a paper as it is answered.
type BusinessPaper struct {
	ID string `json:"id" doc:"Identity." example:"inv_1234"`

	record.PaperFields

	Object     string `json:"object" doc:"What it is: invoice, credit_note, receipt, deposit_statement, agreement or owner_statement." example:"invoice"`
	Status     string `json:"status" doc:"draft, issuing (its number is being given, which takes moments), and then of an invoice open, paid or credited (a credit note took it back), of an owner's statement issued or paid, of all others issued."`
	Number     string `json:"number" doc:"Without a gap in the year, the account and the kind; empty before it is issued." example:"INV-2026-00042"`
	BookingID  string `json:"booking_id,omitempty" example:"bkg_1234"`
	CustomerID string `json:"customer_id,omitempty" doc:"Who it is made out to; of an owner's statement the owner." example:"cus_1234"`
	PaymentID  string `json:"payment_id,omitempty" example:"pay_1234"`
	InvoiceID  string `json:"invoice_id,omitempty" doc:"Of a credit note: the invoice that it takes back as a whole." example:"inv_1234"`
	Month      string `json:"month,omitempty" doc:"Of an owner's statement." example:"2026-10"`
	Currency   string `json:"currency,omitempty" example:"USD"`

	IssuedAt record.Instant `json:"issued_at"`
	IssuedOn string         `json:"issued_on,omitempty" format:"date"`
	DueOn    string         `json:"due_on,omitempty" format:"date"`
	SignedAt record.Instant `json:"signed_at" doc:"Of an agreement."`
	SignedBy string         `json:"signed_by,omitempty"`
	PayoutID string         `json:"payout_id,omitempty" doc:"Of an owner's statement that is paid: the expense that paid it, or from which it was taken off." example:"exp_1234"`

	Language string               `json:"language,omitempty" doc:"In which it is printed, as a tag." example:"en-US"`
	Seller   *record.PaperSeller  `json:"seller"`
	To       *record.PaperParty   `json:"recipient" doc:"Who it is made out to; null where nobody is named, or nothing of an erased customer is kept any more."`
	About    *record.PaperSubject `json:"about"`
	Lines    []record.PaperLine   `json:"lines" nullable:"false"`
	Taxes    []record.PaperTax    `json:"taxes" nullable:"false"`
	Sums     []record.PaperSum    `json:"sums" nullable:"false" doc:"In the order in which they are printed; the last is the total."`
	Total    record.Money         `json:"total"`
	Text     string               `json:"text,omitempty" doc:"Of an agreement."`

	rest.Stamps
}

// resource is a kind of papers as the interface has it.
type resource struct {
	kind  record.Kind[record.Paper]
	path  string
	noun  string
	nouns string
	scope rest.Scopes
	about string

	sent   any // zero value of what is sent to make one
	decode func(r *http.Request) (desks.Order, error)
	make   func(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
		o desks.Order) (record.Record[record.Paper], error)
}

// view is the view of a paper.
func view(r *record.Record[record.Paper], persons *record.PaperPersons) BusinessPaper {
	p := &r.Body
	v := BusinessPaper{
		ID: fleet.FormatID(record.KindOfPaper(p.Kind).Prefix, r.ID), PaperFields: p.PaperFields, Object: p.Kind,
		Status: p.Status, Number: p.Number, BookingID: p.BookingID, CustomerID: p.CustomerID, PaymentID: p.PaymentID,
		InvoiceID: p.InvoiceID, Month: p.Month, Currency: p.Currency, IssuedAt: p.IssuedAt, IssuedOn: p.IssuedOn,
		DueOn: p.DueOn, SignedAt: p.SignedAt, SignedBy: p.SignedBy, PayoutID: p.PayoutID,
		Language: p.Language, Seller: p.Seller, About: p.About, Lines: append([]record.PaperLine{}, p.Lines...),
		Taxes: append([]record.PaperTax{}, p.Taxes...),
		Sums:  append([]record.PaperSum{}, p.Sums...), Total: p.Total, Stamps: rest.StampsOf(*r),
	}
	if persons != nil {
		v.To, v.Text = persons.To, persons.Text
	}
	return v
}

// show makes the views of papers.
func (a *API) show(ctx context.Context, papers []record.Record[record.Paper], _ []string) ([]rest.Shown, error) {
	views := make([]rest.Shown, len(papers))
	if len(papers) == 0 {
		return views, nil
	}
	persons, err := a.papers.Persons(ctx, papers[0].Account, papers)
	if err != nil {
		return nil, err
	}
	for i := range papers {
		v := view(&papers[i], persons[papers[i].ID])
		views[i].View = v
		// Of a draft who it is for is as the customer is now, and of others it may be erased.
		if papers[i].Body.Persons == 0 || v.To == nil {
			text, err := rest.EncodeJSON(v.To, false)
			if err != nil {
				return nil, err
			}
			views[i].Live = text
		}
	}
	return views, nil
}

// printedAs is the media type of papers that are printed.
const printedAs = "application/pdf"

// of is the resource of a kind of papers.
func (a *API) of(what *resource) *rest.Resource[record.Paper] {
	listing := query.Papers // of its own, by which others find what shows its records
	s := &rest.Resource[record.Paper]{
		Server: a.Server, Log: a.papers.Log(what.kind), Listing: &listing,
		Titles: rest.Titles{Path: what.path, Tag: "Papers", Noun: what.noun, Nouns: what.nouns, About: what.about},
		Scope:  what.scope,
		Views: rest.Views{View: BusinessPaper{}, Fields: record.PaperFields{}, Create: what.sent,
			States: record.PaperStates},
		Writable: func(p *record.Paper) any { return &p.PaperFields },
		Show:     a.show,
		Choose: func(_ *http.Request, req *query.ListRequest) error {
			req.Filters = append(req.Filters, query.Filter{Field: "kind", Op: "eq", Values: []string{what.kind.Name}})
			return nil
		},
		Prepare: func(_ *http.Request, _ uint64, before, after *record.Paper) error {
			if before != nil && before.Sealed() && before.Notes != after.Notes {
				return fleet.Invalid(fleet.FieldError{Pointer: "/notes", Code: "read_only",
					Detail: "is printed on it, and cannot be changed once it is issued"})
			}
			return nil
		},
		MayArchive: rest.ArchiveIf(func(_ *http.Request, r *record.Record[record.Paper]) error {
			return a.papers.Discardable(r)
		}),
	}
	s.Register("list", "create", "replace", "get")
	name := strings.TrimPrefix(what.path, "/v1/")
	a.Handle(rest.Route{
		Method: "GET", Path: what.path, ID: "list" + joined(name), Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "List " + s.Nouns,
		Params:  slices.Concat(rest.PageParams, rest.Without(s.ListParams(), "kind"), rest.FieldsParams),
		Reply:   a.ListSchema(s.View),
	}, s.List)
	a.Handle(rest.Route{
		Method: "POST", Path: what.path, ID: "create" + joined(what.noun), Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Make " + rest.Article(s.Noun), About: what.about, Body: what.sent, Status: http.StatusCreated,
		Reply: s.View,
	}, func(w http.ResponseWriter, r *http.Request) error { return a.create(w, r, s, what) })
	a.Handle(rest.Route{
		Method: "GET", Path: what.path + "/{id}", ID: "get" + joined(what.noun), Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "Get " + rest.Article(s.Noun), About: "With `Accept: application/pdf` as it is printed: see `/pdf`.",
		Params: append([]rest.Param{rest.IfNoneMatchParam}, rest.FieldsParams...), Reply: s.View,
		ReplyTypes: []string{"application/json", printedAs},
	}, func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Add("Vary", "Accept")
		if rest.Prefers(r, printedAs) {
			return a.print(w, r, s)
		}
		return s.Get(w, r)
	})
	a.Handle(rest.Route{
		Method: "GET", Path: what.path + "/{id}/pdf", ID: "print" + joined(what.noun), Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "Print " + rest.Article(s.Noun),
		About: "As PDF, in the language of the paper, on A4 or US Letter as the country has it. One that is issued is the " +
			"same to the byte whenever it is printed, until what it says of an erased customer is not kept any more. " +
			"A draft is marked as one.",
		Params: []rest.Param{rest.IfNoneMatchParam}, Reply: "", ReplyTypes: []string{printedAs},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.print(w, r, s) })
	return s
}

// joined writes words as one, each with a capital.
func joined(words string) string {
	var name string
	for _, word := range strings.FieldsFunc(words, func(r rune) bool { return r == ' ' || r == '_' }) {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// create makes a paper of what was sent.
func (a *API) create(w http.ResponseWriter, r *http.Request, s *rest.Resource[record.Paper], what *resource) error {
	o, err := what.decode(r)
	if err != nil {
		return err
	}
	made, err := what.make(r.Context(), rest.Author(r), auth.From(r.Context()).Account, a.NewID(r), o)
	if err != nil {
		return err
	}
	return s.Answer(w, r, http.StatusCreated, made)
}

// print answers with a paper as PDF.
func (a *API) print(w http.ResponseWriter, r *http.Request, s *rest.Resource[record.Paper]) error {
	of, err := s.Load(r)
	if err != nil {
		return err
	}
	persons, err := a.papers.Persons(r.Context(), of.Account, []record.Record[record.Paper]{of})
	if err != nil {
		return err
	}
	file, err := pdf.Print(&of.Body, persons[of.ID], of.CreatedAt)
	if err != nil {
		return err
	}
	tag := rest.ETagOf(of.Revision, file)
	h := w.Header()
	h.Set("ETag", tag)
	if rest.Unchanged(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	name := strings.Map(func(r rune) rune {
		if r < 0x7f && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r)) {
			return r
		}
		return '-'
	}, cmp.Or(of.Body.Number, fleet.FormatID(s.Log.Kind().Prefix, of.ID)))
	h.Set("Content-Type", printedAs)
	h.Set("Content-Disposition", `inline; filename="`+name+`.pdf"`)
	h.Set("Content-Length", strconv.Itoa(len(file)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = w.Write(file)
	return err
}
