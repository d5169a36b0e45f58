package rent

import (
	"net/http"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// LedgerAccount is the balance of an account of the books, as it is answered.
type LedgerAccount struct {
	Object string `json:"object" doc:"Always ledger_account." example:"ledger_account"`
	AccountLabel
	Type       string       `json:"type" doc:"asset, liability, equity, revenue (with what lessens it) or cost."`
	Balance    record.Money `json:"balance" doc:"Debits less credits: positive for what is owned or spent, negative for what is owed or earned. With from, what that day and those after it have added."`
	Currency   string       `json:"currency" doc:"That of the balance: an account has a row for each." example:"USD"`
	EntryCount uint64       `json:"entry_count"`
	On         string       `json:"on" format:"date" doc:"The balance at the end of this local day."`
}

// LedgerClose is the body of the action that closes the books.
type LedgerClose struct {
	Through string `json:"through" format:"date" doc:"The last day that nothing is posted on any more. It must be over where the account is at home."`
}

// LedgerReopen is the body of the action that opens the books again.
type LedgerReopen struct {
	Through string `json:"through,omitempty" format:"date" doc:"The last day that stays closed; none unless given."`
}

// LedgerPeriod says how far the books are closed.
type LedgerPeriod struct {
	Object        string         `json:"object" doc:"Always ledger_period." example:"ledger_period"`
	ClosedThrough *string        `json:"closed_through" nullable:"true" format:"date" doc:"The last day that nothing is posted on any more; null if the books are open."`
	Revision      uint64         `json:"account_revision" doc:"Of the account, whose history says who closed the books."`
	UpdatedAt     record.Instant `json:"updated_at"`
}

func (a *API) ledgerBookRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/ledger/accounts", ID: "listLedgerAccounts", Tag: "Ledger", Scope: auth.FinanceRead,
		Summary: "List the accounts of the ledger with their balances",
		About: "One line an account and currency that anything was booked on by then; in each currency they sum to zero, by their numbers. Revenue counts on the days of use: what was agreed for later days is not in yet. All on one page. " +
			"With `vehicle_id` and `from` it says what a vehicle has earned and cost in a span of days. CSV and XLSX are for people: by number and name, each balance among the debits or the credits, as decimals.",
		Params: []rest.Param{{Name: "until", Format: "date", About: "The local day at whose end; today unless given."},
			{Name: "on", Format: "date", About: "The same, by another name."},
			{Name: "from", Format: "date", About: "Only what counts on this local day or later."}, ledgerVehicles,
			{Name: "format", Enum: export.Names(accountTables), About: "Form of the answer, instead of an Accept header."}},
		Reply: rest.List[LedgerAccount]{}, ReplyTypes: export.MediaTypes(accountTables),
	}, a.listLedgerAccounts)
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/ledger/close", ID: "closeLedger", Tag: "Ledger", Scope: auth.FinanceWrite,
		Summary: "Close the books through a day",
		About:   "What costs by schedule on these days is brought into the books first, and what owners of vehicles get. If a cost is refused, this is a 409 that names it. What becomes known later about closed days is posted on the day on which it becomes known, with `used_on` as it was. Closing twice is once; an earlier day than the books are closed through already is a 409.",
		Body:    LedgerClose{}, Reply: LedgerPeriod{}, Timeout: rest.ExportTime,
	}, a.closeLedger)
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/ledger/reopen", ID: "reopenLedger", Tag: "Ledger", Scope: auth.FinanceWrite,
		Summary: "Open closed books again",
		About:   "What was posted on other days meanwhile stays there.", Body: LedgerReopen{}, Optional: true,
		Reply: LedgerPeriod{},
	}, a.reopenLedger)
}

func (a *API) listLedgerAccounts(w http.ResponseWriter, r *http.Request) error {
	account := auth.From(r.Context()).Account
	format, err := rest.FormatOf(r, accountTables)
	if err != nil {
		return err
	}
	name, on, from := "until", rest.TextParam(r, "until", ""), rest.TextParam(r, "from", "")
	if same := rest.TextParam(r, "on", ""); on == "" {
		name, on = "on", same
	} else if same != "" && same != on {
		return rest.InvalidParam("on", "says another day than until; give one of them")
	}
	if on == "" {
		rec, err := a.accounts.Get(r.Context(), account, uint64(account))
		if err != nil {
			return err
		}
		on = a.today(&rec.Body).String()
	} else if faults := dayFaults(name, on); faults != nil {
		return rest.InvalidParam(name, faults[0].Detail)
	}
	if from > on {
		return rest.InvalidParam("from", "must not be after "+on+", the last day")
	}
	vehicles, err := rest.IDsParam[uint64](r, "vehicle_id", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	balances, err := query.LedgerBalances(r.Context(), a.DB,
		query.LedgerFilter{Account: account, From: from, To: on, Vehicles: vehicles})
	if err != nil {
		return err
	}
	labels, err := a.labels(r.Context())
	if err != nil {
		return err
	}
	data := make([]LedgerAccount, len(balances))
	for i, b := range balances {
		data[i] = LedgerAccount{Object: "ledger_account", AccountLabel: labelOf(labels, b.Account),
			Type:    ledger.Account(b.Account).Type(),
			Balance: record.Money{Amount: b.Amount, Currency: b.Currency}, Currency: b.Currency, EntryCount: b.Entries, On: on}
	}
	slices.SortStableFunc(data, func(a, b LedgerAccount) int { return strings.Compare(a.Number, b.Number) })
	if format != export.JSON {
		about := "Balances at the end of " + on
		if from != "" {
			about = "What " + from + " to " + on + " added"
		}
		return a.downloadAccounts(w, r, format, about, data)
	}
	return rest.WriteJSON(w, r, http.StatusOK,
		rest.List[LedgerAccount]{Data: data, Pagination: rest.Pagination{Page: 1, PerPage: len(data), Total: len(data)}})
}

// today is the day that it is where an account is at home.
func (a *API) today(account *record.Account) ledger.Day {
	return ledger.DayOf(a.Now(), fleet.ZoneOf(account.Timezone))
}

func (a *API) closeLedger(w http.ResponseWriter, r *http.Request) error {
	var sent LedgerClose
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	day, err := ledger.ParseDay(sent.Through)
	if err != nil || !day.Known() {
		return fleet.Invalid(dayFaults("/through", sent.Through)...)
	}
	// What fell due by schedule on days through that one, and what owners get of what was corrected last, belongs to its
	// own day, which is closed in a moment.
	home := auth.From(r.Context()).Account
	if err := a.desk.Costs.PostOf(r.Context(), home, day); err != nil {
		return err
	}
	if err := a.desk.Papers.PostSharesOf(r.Context(), home); err != nil {
		return err
	}
	return a.setClosed(w, r, func(account *record.Account) error {
		if account.BooksClosed > sent.Through {
			return fleet.NewError(fleet.CodeConflict,
				"The books are closed through "+account.BooksClosed+" already. Reopen them first.")
		}
		if day >= a.today(account) {
			return fleet.Invalid(fleet.FieldError{Pointer: "/through", Code: "out_of_range", Detail: "the day is not over yet"})
		}
		account.BooksClosed = sent.Through
		return nil
	})
}

func (a *API) reopenLedger(w http.ResponseWriter, r *http.Request) error {
	var sent LedgerReopen
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	if sent.Through != "" {
		if faults := dayFaults("/through", sent.Through); faults != nil {
			return fleet.Invalid(faults...)
		}
	}
	return a.setClosed(w, r, func(account *record.Account) error {
		if account.BooksClosed < sent.Through {
			return fleet.NewError(fleet.CodeConflict, "The books are not closed as far as that. Close them instead.")
		}
		account.BooksClosed = sent.Through
		return nil
	})
}

// setClosed changes how far the books are closed.
func (a *API) setClosed(w http.ResponseWriter, r *http.Request, change func(*record.Account) error) error {
	account := auth.From(r.Context()).Account
	rec, err := a.accounts.Update(r.Context(), rest.Author(r), account, uint64(account), 0,
		func(rec *record.Record[record.Account]) error {
			return change(&rec.Body)
		})
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK,
		LedgerPeriod{Object: "ledger_period", ClosedThrough: rest.TextOrNull(rec.Body.BooksClosed), Revision: rec.Revision,
			UpdatedAt: record.InstantOf(rec.UpdatedAt)})
}
