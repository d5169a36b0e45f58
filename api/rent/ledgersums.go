package rent

import (
	"net/http"
	"slices"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// LedgerSum is what entries of the ledger come to in a currency.
type LedgerSum struct {
	Object     string       `json:"object" doc:"Always ledger_sum." example:"ledger_sum"`
	Currency   string       `json:"currency" example:"USD"`
	Sum        record.Money `json:"sum" doc:"Debits less credits."`
	EntryCount uint64       `json:"entry_count"`
}

func (a *API) ledgerSumRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/ledger/sums", ID: "listLedgerSums", Tag: "Ledger", Scope: auth.FinanceRead,
		Summary: "What entries of the ledger come to",
		About: "The entries that `GET /v1/ledger/entries` lists with the same filters: how many they are, and their sum, by currency. " +
			"So it says of the entries that a figure of a report links to what the figure is.",
		Params: slices.Concat(ledgerDays("Of this day of the books"), ledgerParams, entryParams),
		Reply:  rest.List[LedgerSum]{},
	}, a.listLedgerSums)
}

func (a *API) listLedgerSums(w http.ResponseWriter, r *http.Request) error {
	f, err := ledgerFilter(r, rest.Page{Number: 1}, "local_on")
	if err != nil {
		return err
	}
	sums, err := query.LedgerSums(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	data := make([]LedgerSum, len(sums))
	for i, s := range sums {
		data[i] = LedgerSum{Object: "ledger_sum", Currency: s.Currency,
			Sum: record.Money{Amount: s.Amount, Currency: s.Currency}, EntryCount: s.Entries}
	}
	return rest.WriteJSON(w, r, http.StatusOK,
		rest.List[LedgerSum]{Data: data, Pagination: rest.Pagination{Page: 1, PerPage: len(data), Total: len(data)}})
}
