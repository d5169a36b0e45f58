package api

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/motorpool/fleet/api/record"
)

// Two processes serve an account, and clerks of both make records of every kind that people speak of: each has a
// number of its own, found by it, told in its events, and the same when a request is repeated. Within what one process
// makes, numbers rise.
func TestNumbersOfPeopleAreGivenOnce(t *testing.T) {
	first, second, _ := twins(t)
	van := first.vehicle(`{"make":"A","model":"B"}`)
	day := `"amount":{"amount":100,"currency":"USD"},"method":"cash"`
	bodies := map[string][2]string{
		"/v1/customers":               {"C", `{"first_name":"Ada"}`},
		"/v1/payments":                {"P", `{` + day + `}`},
		"/v1/maintenance/work_orders": {"W", `{"vehicle_id":"` + van + `"}`},
	}
	for path, kind := range bodies {
		var mu sync.Mutex
		var all []int
		var work sync.WaitGroup
		for _, w := range []*world{first, second} {
			work.Go(func() {
				before := 0
				for n := range 10 {
					key := []string{"Idempotency-Key", fmt.Sprintf("%p-%s-%d", w, path, n)}
					text := fmt.Sprint(w.do("POST", path, kind[1], key...).ok(201).object()["number"])
					letter, digits, _ := strings.Cut(text, "-")
					number, err := strconv.Atoi(digits)
					if err != nil || letter != kind[0] || number <= 1000 || number <= before {
						t.Errorf("%s has the number %s after %d", path, text, before)
					}
					before = number
					wantEqual(t, "repeated", w.do("POST", path, kind[1], key...).ok(201).object()["number"], text)
					mu.Lock()
					all = append(all, number)
					mu.Unlock()
				}
			})
		}
		work.Wait()
		slices.Sort(all)
		if len(slices.Compact(slices.Clone(all))) != 20 {
			t.Errorf("%s: numbers twice in %v", path, all)
		}
		one := fmt.Sprintf("%s-%d", kind[0], all[7])
		found := first.do("GET", path+"?number="+one, "").ok(200).data()
		if len(found) != 1 || found[0]["number"] != one {
			t.Errorf("%s by number: %v", one, found)
		}
	}
	batch := first.do("POST", "/v1/customers/batch",
		`{"data":[{"first_name":"A"},{"first_name":"B"},{"first_name":"C"}]}`).ok(200).data()
	var numbers []string
	for _, r := range batch {
		numbers = append(numbers, fmt.Sprint(r["record"].(map[string]any)["number"]))
	}
	if slices.Sort(numbers); len(slices.Compact(numbers)) != 3 ||
		!regexp.MustCompile(`^C-\d{4}$`).MatchString(numbers[0]) {
		t.Errorf("numbers of a batch: %v", numbers)
	}
	wantEqual(t, "another account begins anew", second.do("POST", "/v1/customers", `{"first_name":"Bo"}`, "Authorization",
		"Bearer "+second.newKey(second.newAccount("Second"), "admin")).ok(201).object()["number"], "C-1001")
}

// Numbers sort as numbers do, also where they get longer.
func TestRecordsAreSortedByTheirNumbers(t *testing.T) {
	w := newLot(t)
	for _, number := range []string{"C-9999", "C-10000"} {
		c := record.Customer{CustomerFields: record.CustomerFields{FirstName: number}}
		c.Number = number
		made(w, w.api.desk.Customers, c)
	}
	wantEqual(t, "the newest first", w.do("GET", "/v1/customers?sort=-number", "").listed("number"),
		"C-10000|C-9999|C-1001")
	wantEqual(t, "found by it", w.do("GET", "/v1/customers?number=c10000", "").listed("number"), "C-10000")
}
