package record

import (
	"strings"
	"time"

	"github.com/motorpool/fleet"
)

// CustomerFields are what callers write of a customer.
type CustomerFields struct {
	Type              string   `json:"type,omitempty" enum:"person,company" doc:"person unless given."`
	DisplayName       string   `json:"display_name,omitempty" maxLength:"200" doc:"Made of the others unless given."`
	FirstName         string   `json:"first_name,omitempty" maxLength:"100"`
	LastName          string   `json:"last_name,omitempty" maxLength:"100"`
	CompanyName       string   `json:"company_name,omitempty" maxLength:"200"`
	Email             string   `json:"email,omitempty" maxLength:"254" example:"ada@example.com"`
	Phone             string   `json:"phone,omitempty" maxLength:"32" doc:"Kept as E.164. One without a country code is of the country of the address, else of the account." example:"+15125550100"`
	DateOfBirth       string   `json:"date_of_birth,omitempty" format:"date"`
	Address           *Address `json:"address,omitempty"`
	TaxID             string   `json:"tax_id,omitempty" maxLength:"50"`
	Locale            string   `json:"locale,omitempty" maxLength:"35" example:"en-US"`
	PreferredCurrency string   `json:"preferred_currency,omitempty" pattern:"^[A-Z]{3}$"`
	Licence           *Licence `json:"licence,omitempty"`
	RiskLevel         string   `json:"risk_level,omitempty" enum:"normal,watch,blocked" doc:"normal unless given."`
	Lifecycle         string   `json:"lifecycle,omitempty" enum:"lead,active,dormant"`
	AssignedTo        string   `json:"assigned_to,omitempty" maxLength:"100"`
	DiscountBP        int64    `json:"default_discount_bp,omitempty" minimum:"0" maximum:"10000" doc:"In basis points: 1000 is a tenth."`
	DepositAmount     *Money   `json:"default_deposit,omitempty"`
	Tags              []string `json:"tags,omitempty" maxItems:"50" nullable:"false"`
	DistinctFrom      []string `json:"distinct_from,omitempty" maxItems:"50" nullable:"false" doc:"Customers that look like this one and are other people, as somebody has found: none of them is taken for it, as a duplicate or on the do-not-rent list." example:"[\"cus_1234\"]"`

	Consents     *Consents         `json:"consents,omitempty"`
	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50"`
}

// Licence is a licence to drive.
type Licence struct {
	Number    string `json:"number,omitempty" maxLength:"50" doc:"Written, and read only masked, but with the scope customers.pii:read."`
	Country   string `json:"country,omitempty" pattern:"^[A-Z]{2}$"`
	Region    string `json:"region,omitempty" maxLength:"50"`
	Class     string `json:"class,omitempty" maxLength:"20"`
	IssuedOn  string `json:"issued_on,omitempty" format:"date"`
	ExpiresOn string `json:"expires_on,omitempty" format:"date"`
}

// Consents are what the customer has agreed to.
type Consents struct {
	Marketing bool    `json:"marketing,omitempty"`
	GrantedAt Instant `json:"granted_at,omitzero"`
	Source    string  `json:"source,omitempty" maxLength:"100"`
}

// Customer is a customer as it is stored. Nothing else in any table holds what identifies the person: other records,
// events and the ledger carry the id alone.
type Customer struct {
	CustomerFields
	Numbered
	Verification    Verification `json:"licence_verification"`
	DoNotRent       *DoNotRent   `json:"do_not_rent,omitempty"`
	IncidentsCount  int          `json:"incidents_count"`
	MergedInto      string       `json:"merged_into,omitempty"`
	Merging         []Merging    `json:"merging,omitempty"` // merges into this one that are not complete
	DuplicateOf     string       `json:"possible_duplicate_of,omitempty"`
	ErasingSince    Instant      `json:"erasing_since"` // erasure was decided; what is left of it is being done
	ErasureReason   string       `json:"erasure_reason,omitempty"`
	ErasedAt        Instant      `json:"erased_at"`
	CreatedByImport bool         `json:"created_by_import,omitempty"`
}

// Merging is a merge that has been announced to the customer that stays, and is not complete.
type Merging struct {
	CustomerID string  `json:"customer_id"` // the other one
	At         Instant `json:"at"`
}

// Gone says whether the customer has been erased, or is about to be.
func (c *Customer) Gone() bool { return !c.ErasedAt.IsZero() || !c.ErasingSince.IsZero() }

// Barred says whether nothing is to be rented to the customer at a time.
func (c *Customer) Barred(now time.Time) bool {
	d := c.DoNotRent
	return d != nil && d.Active && (d.ExpiresAt.IsZero() || now.Before(d.ExpiresAt.Time))
}

// Listed says whether nothing is to be rented to the customer at a time, for what is known of the person: on the
// do-not-rent list, or blocked.
func (c *Customer) Listed(now time.Time) bool { return c.Barred(now) || c.RiskLevel == RiskBlocked }

// LicenceLapsed says whether the licence has expired on a day; one without a date never does.
func (c *Customer) LicenceLapsed(day string) bool {
	return c.Licence != nil && c.Licence.ExpiresOn != "" && c.Licence.ExpiresOn < day
}

// VerificationAt is the verification as it stands on a day: an expired licence is not verified, whoever has seen it.
func (c *Customer) VerificationAt(day string) Verification {
	v := c.Verification
	if v.Status == "" {
		v.Status = LicenceUnverified
	}
	if v.Status != LicenceRejected && c.LicenceLapsed(day) {
		v.Status = LicenceExpired
	}
	return v
}

// What a look at a licence can come to.
const (
	LicenceUnverified = "unverified"
	LicencePending    = "pending"
	LicenceVerified   = "verified"
	LicenceRejected   = "rejected"
	LicenceExpired    = "expired" // never stored: see VerificationAt
)

// RiskBlocked is the risk level of customers to whom nothing is rented.
const RiskBlocked = "blocked"

// Verification is whether somebody has looked at the licence.
type Verification struct {
	Status     string  `json:"status" enum:"unverified,pending,verified,rejected,expired"`
	Method     string  `json:"method,omitempty" enum:"visual,scan,third_party"`
	VerifiedAt Instant `json:"verified_at"`
	VerifiedBy string  `json:"verified_by,omitempty"`
}

// DoNotRent says that nothing is to be rented to a customer.
type DoNotRent struct {
	Active     bool    `json:"active"`
	ReasonCode string  `json:"reason_code,omitempty" maxLength:"50"`
	Note       string  `json:"note,omitempty" maxLength:"1000"`
	SetBy      string  `json:"set_by,omitempty"`
	SetAt      Instant `json:"set_at"`
	ExpiresAt  Instant `json:"expires_at,omitzero"`
}

// Customers describes the kind. What identifies the person is not shown in the history.
var Customers = Kind[Customer]{Name: "customer", Prefix: fleet.CustomerPrefix, Letter: "C",
	Claims: func(c *Customer) []Claim {
		return refClaims("customer", c.ExternalRefs)
	}, Hidden: []string{"licence"}}

// Normal writes an email address or phone number as it is compared.
func Normal(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// NoteFields are what callers write of a note.
type NoteFields struct {
	Text   string `json:"text" minLength:"1" maxLength:"5000"`
	Author string `json:"author,omitempty" maxLength:"100" doc:"The API key unless given."`
	Pinned bool   `json:"pinned,omitempty"`
}

// Note is something that staff wrote down about a customer.
type Note struct {
	NoteFields
	CustomerID string `json:"customer_id"`
}

// Notes describes the kind.
var Notes = Kind[Note]{Name: "customer_note", Prefix: fleet.NotePrefix}

// DocumentFields are what callers write of a document.
type DocumentFields struct {
	Kind      string `json:"kind" enum:"license_front,license_back,id,insurance,agreement,other" doc:"What the paper is."`
	Name      string `json:"name,omitempty" maxLength:"200" doc:"The file is called so when it is downloaded."`
	ExpiresOn string `json:"expires_on,omitempty" format:"date"`
}

// Document is a paper of a customer; its file is stored apart.
type Document struct {
	DocumentFields
	CustomerID  string  `json:"customer_id"`
	ContentType string  `json:"content_type,omitempty"`
	Size        int64   `json:"size_bytes,omitempty"`
	SHA256      string  `json:"sha256,omitempty"` // of the file, in hex
	UploadedAt  Instant `json:"uploaded_at"`
	Upload      uint64  `json:"upload,omitempty,string"` // the file in document_files; 0 for none
}

// Documents describes the kind.
var Documents = Kind[Document]{Name: "document", Prefix: fleet.DocumentPrefix}
