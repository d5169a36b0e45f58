package api

import (
	"fmt"
	"testing"
)

func TestEachMoveOfAnExpenseIsLegalOrRefused(t *testing.T) {
	w := newWorld(t)
	for from, legal := range map[string]map[string]string{"draft": {"post": "posted"}, "posted": {"void": "voided"},
		"voided": {}} {
		allowed := map[string]string{"draft": "[posted]", "posted": "[voided]", "voided": "[]"}[from]
		refused := func(what string, r *reply) {
			p := r.problem(409, "invalid_state_transition")
			wantEqual(t, from+" "+what, p.CurrentState, from)
			wantEqual(t, from+" "+what, fmt.Sprint(p.AllowedTransitions), allowed)
		}
		for _, action := range []string{"post", "void"} {
			path := "/v1/expenses/" + w.expenseIn(from)
			r := w.do("POST", path+"/"+action, "")
			if to, ok := legal[action]; ok {
				wantEqual(t, from+" "+action, r.ok(200).object()["status"], to)
			} else {
				refused(action, r)
			}
		}
		path := "/v1/expenses/" + w.expenseIn(from)
		if from == "draft" {
			wantEqual(t, "changed", w.do("PATCH", path, `{"vendor":"Shell"}`).ok(200).object()["vendor"], "Shell")
			w.do("DELETE", path, "").ok(204)
			continue
		}
		refused("patch", w.do("PATCH", path, `{"vendor":"Shell"}`))
		refused("archive", w.do("DELETE", path, ""))
	}
}

// expenseIn makes an expense that is in a state.
func (w *world) expenseIn(state string) string {
	id := w.do("POST", "/v1/expenses",
		`{"category":"fuel","amount":{"amount":100,"currency":"USD"},"incurred_on":"2026-03-01"}`).ok(201).id()
	if state != "draft" {
		w.do("POST", "/v1/expenses/"+id+"/post", "").ok(200)
	}
	if state == "voided" {
		w.do("POST", "/v1/expenses/"+id+"/void", `{"reason":"twice"}`).ok(200)
	}
	return id
}

func TestAnExpenseIsWrittenAndFound(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	for body, want := range map[string]string{
		`{"category":"fuel","amount":{"amount":0,"currency":"USD"},"incurred_on":"2026-03-01"}`:                                                             "/amount/amount",
		`{"category":"fuel","amount":{"amount":5,"currency":"USD"},"tax":{"amount":6,"currency":"EUR"},"incurred_on":"2026-03-01"}`:                         "/tax/amount /tax/currency",
		`{"category":"fuel","amount":{"amount":5,"currency":"USD"},"incurred_on":"0001-01-01"}`:                                                             "/incurred_on",
		`{"category":"fuel","amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01","service_period":{"from":"2026-03-02","until":"2026-03-01"}}`: "/service_period/until",
		`{"category":"fuel","amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01","service_period":{"from":"2026-03-02","until":"2046-03-01"}}`: "/service_period/until",
		`{"category":"fuel","amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01","vehicle_id":"veh_1"}`:                                        "/vehicle_id",
		`{"category":"fuel","amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01","booking_id":"bkg_1"}`:                                        "/booking_id",
		`{"category":"fuel","amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01","receipt_document_id":"doc_1"}`:                               "/receipt_document_id",
		`{"category":"bribes","amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01"}`:                                                           "/category",
	} {
		wantEqual(t, body, w.do("POST", "/v1/expenses", body).faults(), want)
	}
	w.do("POST", "/v1/expenses",
		`{"category":"fuel","vendor":"Shell","amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01","vehicle_id":"`+
			car+`","external_refs":[{"system":"s","id":"e1"}]}`).ok(201)
	w.do("POST", "/v1/expenses",
		`{"category":"parking","amount":{"amount":7,"currency":"EUR"},"incurred_on":"2026-04-01","status":"posted"}`).ok(201)
	for query, want := range map[string]int{"": 2, "?status=posted": 1, "?category=fuel,tires": 1, "?vehicle_id=" + car: 1,
		"?incurred_on[gte]=2026-03-15": 1, "?q=shell": 1, "?external_ref=e1": 1, "?currency=GBP": 0} {
		wantEqual(t, query, w.do("GET", "/v1/expenses"+query, "").pagination().Total, want)
	}
}
