package rent

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// LedgerTransaction is what one revision of a record changed in the books, as it is answered.
type LedgerTransaction struct {
	ID         string         `json:"id" example:"ltx_1234"`
	Object     string         `json:"object" doc:"Always ledger_transaction." example:"ledger_transaction"`
	Kind       string         `json:"kind" doc:"Of the record that was the cause: booking, payment, expense, work_order, toll or journal_entry."`
	SourceID   string         `json:"source_id" doc:"The record." example:"bkg_1234"`
	Revision   uint64         `json:"source_revision" doc:"Its revision: the transaction is what it changed."`
	OccurredAt record.Instant `json:"occurred_at" doc:"When the revision was written."`
	PostedAt   record.Instant `json:"posted_at"`
	KnownOn    string         `json:"known_on" format:"date" doc:"The local day of occurred_at."`
	Actor      string         `json:"actor" doc:"Who wrote the revision."`
	RequestID  string         `json:"request_id,omitempty"`
	BookingID  *string        `json:"booking_id" nullable:"true"`
	CustomerID *string        `json:"customer_id" nullable:"true"`
	VehicleIDs []string       `json:"vehicle_ids" nullable:"false"`
	Debits     []record.Money `json:"debits" nullable:"false" doc:"The sum of its debits in each currency; its credits are as much."`
	EntryCount int            `json:"entry_count"`
}

// LedgerTransactionFull is a transaction with its entries.
type LedgerTransactionFull struct {
	LedgerTransaction
	Entries []LedgerEntry `json:"entries" nullable:"false"`
}

// LedgerEntry is an entry of a transaction, as it is answered.
type LedgerEntry struct {
	ID            string `json:"id" example:"len_1234"`
	Object        string `json:"object" doc:"Always ledger_entry." example:"ledger_entry"`
	TransactionID string `json:"transaction_id" example:"ltx_1234"`
	LocalOn       string `json:"local_on" format:"date" doc:"The local day of the books on which it counts."`
	UsedOn        string `json:"used_on" format:"date" doc:"The local day to which it belongs; another one than local_on only if the books were closed through it."`
	AccountLabel
	Amount     record.Money   `json:"amount" doc:"A debit is positive, a credit negative."`
	VehicleID  *string        `json:"vehicle_id" nullable:"true"`
	ClassID    *string        `json:"vehicle_class_id" nullable:"true"`
	BookingID  *string        `json:"booking_id" nullable:"true"`
	CustomerID *string        `json:"customer_id" nullable:"true"`
	LocationID *string        `json:"location_id" nullable:"true"`
	Channel    *string        `json:"channel" nullable:"true"`
	Purpose    *string        `json:"purpose" nullable:"true" doc:"What it is for, in words, where the account does not say: a line of a bill (mileage, late return), a tax with its name (tax, City tax), a deposit, a refund." example:"tax, City tax"`
	Kind       string         `json:"kind" doc:"Of the record that was the cause."`
	SourceID   string         `json:"source_id" doc:"The record." example:"bkg_1234"`
	OccurredAt record.Instant `json:"occurred_at" doc:"When it became known."`
}

var (
	ledgerKinds = slices.Sorted(maps.Keys(ledger.Kinds))
	// ledgerParams are the filters of both lists of the ledger.
	ledgerParams = []rest.Param{
		{Name: "kind", Multiple: true, NotEmpty: true, Enum: ledgerKinds,
			About: "Only what records of these kinds were the cause of, separated by commas: " +
				strings.Join(ledgerKinds, ", ") + "."},
		{Name: "source_id", NotEmpty: true,
			About: "Only what these records were the cause of, separated by commas; at most 1000."},
		{Name: "transaction_id", NotEmpty: true, About: "Only these transactions, separated by commas; at most 1000."},
		{Name: "booking_id", NotEmpty: true, About: "Only of these bookings, separated by commas; at most 1000. `none` for those of none, as in what follows."},
		{Name: "customer_id", NotEmpty: true, About: "Only of these customers, separated by commas; at most 1000."},
		ledgerVehicles,
		{Name: "ledger_account", Multiple: true, NotEmpty: true, Enum: ledgerAccounts,
			About: "Only on these accounts, of transactions those that have an entry there, separated by commas: " +
				strings.Join(ledgerAccounts, ", ") + "."},
	}
	ledgerVehicles = rest.Param{Name: "vehicle_id", NotEmpty: true,
		About: "Only of these vehicles, separated by commas; at most 1000."}
	// entryParams are filters of entries alone, which the figures of reports link to.
	entryParams = []rest.Param{
		{Name: "currency", NotEmpty: true, About: "Only in these currencies, separated by commas."},
		{Name: "channel", NotEmpty: true, About: "Only of rentals by these channels, separated by commas; `none` for those of none."},
		{Name: "vehicle_class_id", NotEmpty: true, About: "Only of vehicles of these classes, as they are now; `none` for those without."},
		{Name: "location_id", NotEmpty: true, About: "Only of vehicles that are at home at these locations now; `none` for those that are at none."},
		{Name: "pickup_location_id", NotEmpty: true, About: "Only of bookings that begin at these locations; `none` for what is of none."},
		{Name: "purpose", NotEmpty: true, About: "Only what is for this, in the very words of the entry: `tax, City tax`; `none` for what says none."},
		{Name: "capital", NotEmpty: true, Enum: []string{"true", "false"}, About: "Only what was paid for vehicles and back to lenders, or what vehicles were sold for, by the category of the expense as it is now; false for all else."},
		{Name: "owner_customer_id", NotEmpty: true, About: "Only of vehicles that these customers own now; `none` for those that are yours."},
		{Name: "tag", NotEmpty: true, About: "Only of vehicles with one of these tags now; `none` for those without."},
		{Name: "make", NotEmpty: true, About: "Only of vehicles of these makes; `none` for those without, and for what is of no vehicle."},
		{Name: "model", NotEmpty: true, About: "Only of vehicles of these models, with their makes: `Tesla Model 3`."},
	}
	ledgerAccounts = func() []string {
		var all []string
		for _, a := range ledger.Accounts() {
			all = append(all, string(a))
		}
		return all
	}()
)

func (a *API) ledgerRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/ledger/transactions", ID: "listLedgerTransactions", Tag: "Ledger", Scope: auth.FinanceRead,
		Summary: "List the transactions of the ledger",
		About: "Each revision of a booking, payment, expense, work order, toll or journal entry that changes something in the books is one transaction. Transactions are never changed: " +
			"what is corrected is corrected by another one.",
		Params: slices.Concat(rest.PageParams, ledgerDays("Known on this day"), ledgerParams,
			[]rest.Param{{Name: "sort", Enum: []string{"-posted_at", "posted_at"}, About: "`-posted_at` unless given."}}),
		Reply: rest.List[LedgerTransaction]{},
	}, a.listLedgerTransactions)
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/ledger/transactions/{id}", ID: "getLedgerTransaction", Tag: "Ledger",
		Scope: auth.FinanceRead, Summary: "Get a transaction of the ledger",
		About: "With its entries, which sum to zero for each currency and day.", Reply: LedgerTransactionFull{},
	}, a.getLedgerTransaction)
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/ledger/entries", ID: "listLedgerEntries", Tag: "Ledger", Scope: auth.FinanceRead,
		Summary: "List the entries of the ledger",
		About: "By day, ledger account and transaction. CSV is for people: accounts by number and name, the numbers of bookings and customers, plates (with vehicles:read), the names of customers (with customers:read), " +
			"what each entry is for (of work orders with maintenance:read), amounts as decimals (`1212.00`) with `currency`, the day on which it became known in the account's zone, and the ids behind. " +
			"In other tables an amount takes two columns, `amount` in minor units and `currency`.",
		Params: slices.Concat(rest.PageParams, ledgerDays("Of this day of the books"), ledgerParams, entryParams,
			[]rest.Param{{Name: "sort", Enum: []string{"-local_on", "local_on"}, About: "`-local_on` unless given."},
				rest.FormatParam(export.Tables)}),
		Reply: rest.List[LedgerEntry]{}, ReplyTypes: export.MediaTypes(export.Tables), Timeout: rest.ExportTime,
	}, a.listLedgerEntries)
	a.ledgerSumRoutes()
	a.ledgerBookRoutes()
	a.chartRoutes()
}

// ledgerDays are the parameters of a span of days.
func ledgerDays(what string) []rest.Param {
	return []rest.Param{{Name: "from", Format: "date", About: what + " or later."},
		{Name: "until", Format: "date", About: what + " or earlier."}}
}

// ledgerFilter reads the filters of a list of the ledger.
func ledgerFilter(r *http.Request, p rest.Page, order string) (query.LedgerFilter, error) {
	f := query.LedgerFilter{
		Account: auth.From(r.Context()).Account, From: rest.TextParam(r, "from", ""), To: rest.TextParam(r, "until", ""),
		Accounts: rest.ListParam(r, "ledger_account"),
		Kinds:    rest.ListParam(r, "kind"), Descending: order[0] == '-', Limit: p.PerPage + 1, Offset: p.Offset(),
	}
	for _, text := range rest.ListParam(r, "source_id") {
		id, ok := ledgerSource(text)
		if !ok {
			return f, rest.InvalidParam("source_id",
				"names "+text+", which is no id of a booking, payment, expense, work order, toll or journal entry")
		}
		f.Sources = append(f.Sources, id)
	}
	if len(f.Sources) > 1000 {
		return f, rest.InvalidParam("source_id", "has more than 1000 ids")
	}
	for name, of := range map[string]struct {
		prefix string
		into   *[]uint64
	}{
		"transaction_id": {fleet.TransactionPrefix, &f.Transactions}, "booking_id": {fleet.BookingPrefix, &f.Bookings},
		"customer_id": {fleet.CustomerPrefix, &f.Customers}, "vehicle_id": {fleet.VehiclePrefix, &f.Vehicles},
		"vehicle_class_id": {fleet.ClassPrefix, &f.Classes}, "location_id": {fleet.LocationPrefix, &f.Locations},
		"owner_customer_id": {fleet.CustomerPrefix, &f.Owners}, "pickup_location_id": {fleet.LocationPrefix, &f.Pickups},
	} {
		for _, text := range rest.ListParam(r, name) {
			id, err := fleet.ParseID(of.prefix, text)
			if err != nil && text != noneOf {
				return f, rest.InvalidParam(name, err.Error())
			}
			*of.into = append(*of.into, id)
		}
		if len(*of.into) > 1000 {
			return f, rest.InvalidParam(name, "has more than 1000 ids")
		}
	}
	f.Currencies, f.Capital = rest.ListParam(r, "currency"), rest.TextParam(r, "capital", "")
	if purpose := rest.TextParam(r, "purpose", ""); purpose == noneOf {
		f.Purposes = []string{""}
	} else if purpose != "" {
		f.Purposes = []string{purpose} // which has commas
	}
	for name, into := range map[string]*[]string{"channel": &f.Channels, "tag": &f.Tags, "make": &f.Makes,
		"model": &f.Models} {
		for _, text := range rest.ListParam(r, name) {
			if text == noneOf {
				text = ""
			}
			*into = append(*into, text)
		}
	}
	return f, nil
}

// noneOf is what asks for entries without a vehicle, a customer and the like.
const noneOf = "none"

func ledgerSource(text string) (uint64, bool) {
	for _, prefix := range ledger.Kinds {
		if id, err := fleet.ParseID(prefix, text); err == nil {
			return id, true
		}
	}
	return 0, false
}

func (a *API) listLedgerTransactions(w http.ResponseWriter, r *http.Request) error {
	order := rest.TextParam(r, "sort", "-posted_at")
	mark := "/v1/ledger/transactions?" + order
	p, err := rest.PageOf(r, mark)
	if err != nil {
		return err
	}
	f, err := ledgerFilter(r, p, order)
	if err != nil {
		return err
	}
	var after *query.LedgerTransaction
	if p.After != nil {
		at, id, err := p.Behind()
		if err != nil {
			return err
		}
		after = &query.LedgerTransaction{PostedAt: at.Time(), ID: id}
	}
	rows, err := query.LedgerTransactions(r.Context(), a.DB, f, after)
	if err != nil {
		return err
	}
	total, err := query.LedgerCount(r.Context(), a.DB, "ledger_transactions", f)
	if err != nil {
		return err
	}
	var next []string
	if len(rows) > p.PerPage {
		rows = rows[:p.PerPage]
		last := &rows[len(rows)-1]
		next = rest.AfterOf(fleet.MillisOf(last.PostedAt), last.ID)
	}
	data := make([]LedgerTransaction, len(rows))
	for i := range rows {
		data[i] = showLedgerTransaction(&rows[i])
	}
	return rest.WriteList(w, r, mark, p, data, total, next)
}

func (a *API) getLedgerTransaction(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "ledger transaction", fleet.TransactionPrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	rows, err := query.LedgerTransactions(r.Context(), a.DB,
		query.LedgerFilter{Account: account, Transactions: []uint64{id}, Limit: 1}, nil)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return rest.NotFound("ledger transaction", fleet.FormatID(fleet.TransactionPrefix, id))
	}
	text, _, err := query.PostedEntries(r.Context(), a.DB, account, id)
	if err != nil {
		return err
	}
	var entries []ledger.Entry
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return err
	}
	labels, err := a.labels(r.Context())
	if err != nil {
		return err
	}
	answer := LedgerTransactionFull{LedgerTransaction: showLedgerTransaction(&rows[0]),
		Entries: make([]LedgerEntry, len(entries))}
	for i, e := range entries {
		answer.Entries[i] = LedgerEntry{
			ID: fleet.FormatID(fleet.EntryPrefix, ledger.EntryID(id, i+1)), Object: "ledger_entry", TransactionID: answer.ID,
			LocalOn: e.On.String(), UsedOn: e.Day.String(),
			AccountLabel: labelOf(labels, string(e.Account)), Amount: record.Money{Amount: e.Amount, Currency: e.Currency},
			VehicleID: rest.TextOrNull(e.Vehicle), ClassID: rest.TextOrNull(e.Class),
			BookingID: rest.TextOrNull(e.Booking), CustomerID: rest.TextOrNull(e.Customer),
			LocationID: rest.TextOrNull(e.Location), Channel: rest.TextOrNull(e.Channel), Purpose: rest.TextOrNull(e.Purpose),
			Kind: answer.Kind, SourceID: answer.SourceID, OccurredAt: answer.OccurredAt,
		}
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

func (a *API) listLedgerEntries(w http.ResponseWriter, r *http.Request) error {
	order := rest.TextParam(r, "sort", "-local_on")
	format, err := rest.FormatOf(r, export.Tables)
	if err != nil {
		return err
	}
	if format != export.JSON {
		return a.downloadLedgerEntries(w, r, order, format)
	}
	mark := "/v1/ledger/entries?" + order
	p, err := rest.PageOf(r, mark)
	if err != nil {
		return err
	}
	f, err := ledgerFilter(r, p, order)
	if err != nil {
		return err
	}
	after, err := entryAfter(p.After)
	if err != nil {
		return err
	}
	labels, err := a.labels(r.Context())
	if err != nil {
		return err
	}
	var rows []query.LedgerEntry
	for e, err := range query.LedgerEntries(r.Context(), a.DB, f, after) {
		if err != nil {
			return err
		}
		rows = append(rows, e)
	}
	total, err := query.LedgerCount(r.Context(), a.DB, "ledger_entries", f)
	if err != nil {
		return err
	}
	var next []string
	if len(rows) > p.PerPage {
		rows = rows[:p.PerPage]
		last := &rows[len(rows)-1]
		next = []string{last.On.Format(time.DateOnly), last.Account, strconv.FormatUint(last.Transaction, 10),
			strconv.FormatUint(uint64(last.Number), 10)}
	}
	data := make([]LedgerEntry, len(rows))
	for i := range rows {
		data[i] = showLedgerEntry(&rows[i], labels)
	}
	return rest.WriteList(w, r, mark, p, data, total, next)
}

// downloadLedgerEntries answers with all entries that are asked for.
func (a *API) downloadLedgerEntries(w http.ResponseWriter, r *http.Request, order string, format export.Format) error {
	if err := rest.RefusePaging(r, "format="+string(format)); err != nil {
		return err
	}
	f, err := ledgerFilter(r, rest.Page{Number: 1, PerPage: math.MaxInt32}, order)
	if err != nil {
		return err
	}
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	if format == export.CSV {
		return a.downloadLedgerSheet(w, r, db, f)
	}
	labels, err := a.labels(r.Context())
	if err != nil {
		return err
	}
	return a.DownloadViews(w, r, format, "ledger-entries", LedgerEntry{}, func(yield func(any, error) bool) {
		for e, err := range query.LedgerEntries(r.Context(), db, f, nil) {
			if !yield(showLedgerEntry(&e, labels), err) {
				return
			}
		}
	})
}

// entryAfter reads the keys of a cursor of entries.
func entryAfter(keys []string) (*query.LedgerEntry, error) {
	if keys == nil {
		return nil, nil
	}
	if len(keys) == 4 {
		day, bad1 := ledger.ParseDay(keys[0])
		transaction, bad2 := strconv.ParseUint(keys[2], 10, 64)
		number, bad3 := strconv.ParseUint(keys[3], 10, 32)
		if bad1 == nil && bad2 == nil && bad3 == nil && day.Known() {
			return &query.LedgerEntry{On: day.Time(), Account: keys[1], Transaction: transaction, Number: uint32(number)}, nil
		}
	}
	return nil, rest.InvalidParam("cursor", "is not a next_cursor of this list")
}

// idOrNull writes an id, null for none.
func idOrNull(prefix string, id uint64) *string {
	if id == 0 {
		return nil
	}
	text := fleet.FormatID(prefix, id)
	return &text
}

func showLedgerTransaction(t *query.LedgerTransaction) LedgerTransaction {
	view := LedgerTransaction{
		ID: fleet.FormatID(fleet.TransactionPrefix, t.ID), Object: "ledger_transaction", Kind: t.Kind,
		SourceID: fleet.FormatID(ledger.Kinds[t.Kind], t.Source), Revision: t.Revision,
		OccurredAt: record.InstantOf(t.OccurredAt), PostedAt: record.InstantOf(t.PostedAt),
		KnownOn: t.KnownOn.Format(time.DateOnly), Actor: t.Actor, RequestID: t.RequestID,
		BookingID: idOrNull(fleet.BookingPrefix, t.Booking), CustomerID: idOrNull(fleet.CustomerPrefix, t.Customer),
		VehicleIDs: []string{}, Debits: []record.Money{}, EntryCount: t.Entries,
	}
	for _, v := range t.Vehicles {
		view.VehicleIDs = append(view.VehicleIDs, fleet.FormatID(fleet.VehiclePrefix, v))
	}
	for i, c := range t.Currencies {
		view.Debits = append(view.Debits, record.Money{Amount: t.Debits[i], Currency: c})
	}
	return view
}

func showLedgerEntry(e *query.LedgerEntry, labels map[string]record.LedgerLabel) LedgerEntry {
	return LedgerEntry{
		ID: fleet.FormatID(fleet.EntryPrefix, e.ID), Object: "ledger_entry",
		TransactionID: fleet.FormatID(fleet.TransactionPrefix, e.Transaction),
		LocalOn:       e.On.Format(time.DateOnly), UsedOn: e.Used.Format(time.DateOnly),
		AccountLabel: labelOf(labels, e.Account),
		Amount:       record.Money{Amount: e.Amount, Currency: e.Currency},
		VehicleID:    idOrNull(fleet.VehiclePrefix, e.Vehicle), ClassID: idOrNull(fleet.ClassPrefix, e.Class),
		BookingID:  idOrNull(fleet.BookingPrefix, e.Booking),
		CustomerID: idOrNull(fleet.CustomerPrefix, e.Customer), LocationID: idOrNull(fleet.LocationPrefix, e.Location),
		Channel: rest.TextOrNull(e.Channel),
		Purpose: rest.TextOrNull(e.Purpose), Kind: e.Kind, SourceID: fleet.FormatID(ledger.Kinds[e.Kind], e.Source),
		OccurredAt: record.InstantOf(e.OccurredAt),
	}
}
