package record

import (
	"fmt"
	"maps"
	"slices"

	"github.com/motorpool/fleet"
)

// PaperFields are what callers write of a paper.
type PaperFields struct {
	Notes    string            `json:"notes,omitempty" maxLength:"2000" doc:"Printed on it; as all that is printed, it cannot be changed once the paper is issued."`
	Metadata map[string]string `json:"metadata,omitempty" maxProperties:"50" doc:"Yours to use, also after it was issued."`
}

// Paper is an invoice, a credit note, a receipt, a statement or an agreement as it is stored. What it is about is
// settled when it is made, and all that is printed when it is sealed: from then on nothing of it changes but its
// status, what callers keep with it, and that it was signed. Who it is made out to is not here, but in paper_persons
// under Persons, so that the law's time for keeping it and the person's right to be erased each have their way.
type Paper struct {
	PaperFields
	Kind     string `json:"kind"` // the name of the kind in the log
	Status   string `json:"status"`
	Number   string `json:"number,omitempty"`        // "INV-2026-0001"; empty until it is issued
	Series   string `json:"series,omitempty"`        // "invoice 2026": of which its number is one
	Sequence int    `json:"sequence,omitempty"`      // its place in the series, from 1
	Prefix   string `json:"number_prefix,omitempty"` // what its number begins with

	BookingID  string `json:"booking_id,omitempty"`
	CustomerID string `json:"customer_id,omitempty"` // who it is made out to
	PaymentID  string `json:"payment_id,omitempty"`
	InvoiceID  string `json:"invoice_id,omitempty"` // of a credit note that takes back a whole invoice
	Month      string `json:"month,omitempty"`      // of an owner's statement: "2026-10"
	Place      int    `json:"place,omitempty"`      // among the papers of its booking, or of its owner and currency
	Currency   string `json:"currency,omitempty"`

	IssuedAt Instant `json:"issued_at,omitzero"`
	IssuedOn string  `json:"issued_on,omitempty" format:"date"`
	DueOn    string  `json:"due_on,omitempty" format:"date"`
	SignedAt Instant `json:"signed_at,omitzero"` // of an agreement
	SignedBy string  `json:"signed_by,omitempty"`
	PayoutID string  `json:"payout_id,omitempty"` // the expense that paid an owner's statement

	PaperContent
}

// PaperContent is what is printed on a paper beside persons: frozen from the moment in which it is sealed.
type PaperContent struct {
	Language   string        `json:"language,omitempty" doc:"The language in which it is printed, as a tag." example:"en-US"`
	Timezone   string        `json:"timezone,omitempty"`
	Letter     bool          `json:"letter,omitempty"` // on US Letter, not on A4
	Seller     *PaperSeller  `json:"seller,omitempty"`
	About      *PaperSubject `json:"about,omitempty"`
	Lines      []PaperLine   `json:"lines,omitempty"`
	Taxes      []PaperTax    `json:"taxes,omitempty"`
	TaxCharges []string      `json:"tax_charge_ids,omitempty"` // the charges of which taxes are the sums
	Sums       []PaperSum    `json:"sums,omitempty"`           // in the order in which they are printed
	Total      Money         `json:"total,omitzero"`           // what it comes to
	Persons    uint64        `json:"persons,omitempty,string"` // the sealing in paper_persons; 0 for none
	Footer     string        `json:"footer,omitempty"`
}

// PaperSeller is who issues a paper.
type PaperSeller struct {
	LegalName string     `json:"legal_name,omitempty" maxLength:"200" doc:"The name of the account unless given."`
	Address   *Address   `json:"address,omitempty"`
	TaxID     string     `json:"tax_id,omitempty" maxLength:"50" example:"DE123456789"`
	Email     string     `json:"email,omitempty" maxLength:"254"`
	Phone     string     `json:"phone,omitempty" maxLength:"32"`
	Bank      []BankFact `json:"bank_details,omitempty" maxItems:"10" nullable:"false" doc:"Printed where somebody is to pay."`
}

// BankFact is a detail of a bank account.
type BankFact struct {
	Name  string `json:"name" minLength:"1" maxLength:"50" example:"IBAN"`
	Value string `json:"value" minLength:"1" maxLength:"100" example:"DE02 1203 0000 0000 2020 51"`
}

// PaperSubject is what a paper is about, in the words by which people know it.
type PaperSubject struct {
	BookingNumber string  `json:"booking_number,omitempty" example:"B-1042"`
	Vehicle       string  `json:"vehicle,omitempty" doc:"Its plate, make, model and year." example:"ABC1234, Tesla Model 3, 2024"`
	VIN           string  `json:"vin,omitempty"`
	PickupAt      Instant `json:"pickup_at,omitzero"`
	ReturnAt      Instant `json:"return_at,omitzero"`
	PickupPlace   string  `json:"pickup_location_name,omitempty"`
	ReturnPlace   string  `json:"return_location_name,omitempty"`
	InvoiceNumber string  `json:"invoice_number,omitempty" doc:"Of the invoice that is taken back." example:"INV-2026-0001"`
	PaymentNumber string  `json:"payment_number,omitempty" example:"P-1042"`
	PaymentMethod string  `json:"payment_method,omitempty"`
	PaidOn        string  `json:"paid_on,omitempty" format:"date"`
	DepositMethod string  `json:"deposit_method,omitempty"`
	DepositStatus string  `json:"deposit_status,omitempty"`
	From          string  `json:"from,omitempty" format:"date" doc:"The first day of what an owner's statement tells."`
	Until         string  `json:"until,omitempty" format:"date" doc:"The last day of it."`
}

// PaperLine is one line of a paper.
type PaperLine struct {
	Type        string `json:"type" doc:"Of an invoice that of its charge; of other papers what the line is: payment, refund, gross, platform_fee, cost …. More may be added." example:"time"`
	Description string `json:"description,omitempty"`
	On          string `json:"on,omitempty" format:"date"`
	Quantity    int64  `json:"quantity" doc:"Of units; 1 where there is nothing to count."`
	UnitPrice   Money  `json:"unit_price"`
	Amount      Money  `json:"amount" doc:"Signed: quantity times unit_price."`
	Taxable     bool   `json:"taxable,omitempty"`
	ChargeID    string `json:"charge_id,omitempty" example:"chg_1234"`
	VehicleID   string `json:"vehicle_id,omitempty" example:"veh_1234"`
	Vehicle     string `json:"vehicle,omitempty"`
	BookingID   string `json:"booking_id,omitempty" example:"bkg_1234"`
	Booking     string `json:"booking_number,omitempty" example:"B-1042"`
	Account     string `json:"ledger_account,omitempty" doc:"Of an owner's statement: the account of the ledger of which it is the sum." example:"revenue.time"`
	ShareBP     int64  `json:"share_bp,omitempty" doc:"Of an owner's statement: the share that the owner has of the line, or on a line of type share had, in basis points; costs have none."`
}

// PaperTax is a tax of a paper: what it is of, and what it comes to. Tax is the sum of the charges of it, not a
// product.
type PaperTax struct {
	Name   string `json:"name,omitempty" example:"Sales tax"`
	RateBP int64  `json:"rate_bp" doc:"In basis points: 825 is 8.25 %." example:"825"`
	Base   Money  `json:"base" doc:"What is taxed: the taxable lines of this paper."`
	Tax    Money  `json:"tax"`
}

// PaperSum is one of the sums of a paper.
type PaperSum struct {
	Name   string `json:"name" doc:"What is summed: net, tax, total, paid (of an invoice, by the day of its issue), amount_due (what was left of it then), received, refunded, required, captured, applied, released, held, gross, platform_fees, costs, share, payout. More may be added." example:"net"`
	Amount Money  `json:"amount"`
}

// PaperPersons are who a paper names, and the text that speaks of them. It is stored apart from the paper.
type PaperPersons struct {
	To   *PaperParty `json:"to,omitempty"`
	Text string      `json:"text,omitempty"` // of an agreement, made of the account's template
}

// PaperParty is who a paper is made out to.
type PaperParty struct {
	CustomerNumber string   `json:"customer_number,omitempty" example:"C-1002"`
	Name           string   `json:"name,omitempty" example:"Ada Smith"`
	Company        string   `json:"company_name,omitempty"`
	Address        *Address `json:"address,omitempty"`
	TaxID          string   `json:"tax_id,omitempty"`
}

// PaperSettings are what an account prints on its papers, and how it numbers them.
type PaperSettings struct {
	PaperSeller
	Language  string            `json:"language,omitempty" maxLength:"35" doc:"In which papers are printed, as a tag: en, de, fr or es with any region; en unless given." example:"en-US"`
	DueDays   int               `json:"payment_terms_days,omitempty" minimum:"0" maximum:"365" doc:"After how many days an invoice is due; at once unless given." example:"14"`
	Prefixes  map[string]string `json:"number_prefixes,omitempty" doc:"What the numbers of each kind of paper begin with, by the kind: invoice (INV- unless given), credit_note (CN-), receipt (RC-), deposit_statement (DS-), agreement (AG-), owner_statement (OS-). No two may be alike." example:"{\"invoice\":\"INV-\"}"`
	KeepYears *int              `json:"keep_years,omitempty" minimum:"0" maximum:"30" doc:"For how many years after that of their issue papers keep who they are made out to, also when the customer is erased, as the law of the books wants it; 10 unless given. 0: an erasure takes it at once."`
	Agreement string            `json:"agreement_template,omitempty" maxLength:"50000" doc:"The text of rental agreements, with names of what is put in, as {{customer.name}}; a usual one unless given. A line that begins with # is a heading."`
	Footer    string            `json:"footer,omitempty" maxLength:"500" doc:"Printed at the foot of each page."`
	Costs     []string          `json:"owner_costs,omitempty" maxItems:"40" nullable:"false" doc:"The categories of expenses that owners of vehicles bear; maintenance, repair, tires, insurance, registration and tax unless given." example:"[\"maintenance\",\"repair\"]"`
}

// The states of a paper. A draft has no number. One that is being issued has all that is printed, and gets its number
// within moments. Invoices are open, paid or credited then, all other papers issued; an owner's statement is paid when
// the owner was, and issued again when that payout is voided.
//
//	draft ──► issuing ──► open ⇄ paid
//	                       └──► credited
//	          issuing ──► issued
const (
	PaperDraft    = "draft"
	PaperIssuing  = "issuing"
	PaperOpen     = "open"
	PaperPaid     = "paid"
	PaperCredited = "credited" // a credit note takes all of it back
	PaperIssued   = "issued"
)

// paperMoves are the transitions of papers.
var paperMoves = map[string][]string{
	PaperDraft:    {PaperIssuing},
	PaperIssuing:  {PaperOpen, PaperIssued},
	PaperOpen:     {PaperPaid, PaperCredited},
	PaperPaid:     {PaperOpen, PaperCredited},
	PaperCredited: {},
	PaperIssued:   {},
}

// PaperStates lists every state.
var PaperStates = slices.Sorted(maps.Keys(paperMoves))

// MovePaper brings a paper into another state; a *TransitionError says that it cannot be.
func MovePaper(r *Record[Paper], to string) error {
	kind := KindOfPaper(r.Body.Kind)
	name := noun(r.Body.Kind) + " " + fleet.FormatID(kind.Prefix, r.ID)
	if err := moved(paperMoves, name, r.Body.Status, to); err != nil {
		return err
	}
	r.Body.Status = to
	return nil
}

// Sealed says whether all that is printed on the paper is settled.
func (p *Paper) Sealed() bool { return p.Status != PaperDraft }

// paperClaims are what only one paper may be: the next of its booking or owner, and what takes back an invoice.
func paperClaims(p *Paper) []Claim {
	switch {
	case p.InvoiceID != "":
		return []Claim{{Field: "paper.credit", Value: p.InvoiceID, Says: "/invoice_id"}}
	case p.Place == 0:
		return nil
	case p.Month != "":
		return []Claim{{Field: "paper.owner_place", Value: fmt.Sprint(p.CustomerID, " ", p.Currency, " ", p.Place),
			Says: "/month"}}
	}
	return []Claim{{Field: "paper.booking_place", Value: fmt.Sprint(p.BookingID, " ", p.Place), Says: "/booking_id"}}
}

// The kinds of papers. They have one body, and one table.
var (
	Invoices          = Kind[Paper]{Name: "invoice", Prefix: fleet.InvoicePrefix, Claims: paperClaims}
	CreditNotes       = Kind[Paper]{Name: "credit_note", Prefix: fleet.CreditNotePrefix, Claims: paperClaims}
	Receipts          = Kind[Paper]{Name: "receipt", Prefix: fleet.ReceiptPrefix, Claims: paperClaims}
	DepositStatements = Kind[Paper]{Name: "deposit_statement", Prefix: fleet.DepositPaperPrefix, Claims: paperClaims}
	Agreements        = Kind[Paper]{Name: "agreement", Prefix: fleet.AgreementPrefix, Claims: paperClaims}
	OwnerStatements   = Kind[Paper]{Name: "owner_statement", Prefix: fleet.OwnerPaperPrefix, Claims: paperClaims}
)

// Papers are all kinds of papers, and the beginnings of their numbers where the account has none of its own.
var Papers = []struct {
	Kind   Kind[Paper]
	Prefix string
}{
	{Invoices, "INV-"}, {CreditNotes, "CN-"}, {Receipts, "RC-"}, {DepositStatements, "DS-"}, {Agreements, "AG-"},
	{OwnerStatements, "OS-"},
}

// KindOfPaper is the kind of papers of a name; the zero one if there is none.
func KindOfPaper(name string) Kind[Paper] {
	for _, p := range Papers {
		if p.Kind.Name == name {
			return p.Kind
		}
	}
	return Kind[Paper]{}
}

// NumberPrefix is what the numbers of a kind of paper begin with.
func (s *PaperSettings) NumberPrefix(kind string) string {
	if s != nil && s.Prefixes[kind] != "" {
		return s.Prefixes[kind]
	}
	for _, p := range Papers {
		if p.Kind.Name == kind {
			return p.Prefix
		}
	}
	return ""
}

// PaperSeries is the register of one series of numbers: which number was given last, and to which paper. Each revision
// of it gives one number, so that numbers have neither gaps nor doubles.
type PaperSeries struct {
	Of     string `json:"of"` // "invoice 2026"
	Kind   string `json:"kind"`
	Last   int    `json:"last"`
	Number string `json:"number,omitempty"` // the last, as it is printed
	Paper  uint64 `json:"paper,string,omitempty"`
}

// PaperRegisters describes the kind. They are not shown.
var PaperRegisters = Kind[PaperSeries]{Name: "paper_series", Prefix: "pse_"}
