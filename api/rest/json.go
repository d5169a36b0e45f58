package rest

import (
	"net/http"
	"strconv"

	"github.com/motorpool/fleet/api/units"
)

// WriteJSON answers with a value as JSON, in the units that the caller asked for.
func WriteJSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	body, err := EncodeJSON(v, MetricUnits(r))
	if err != nil {
		return err
	}
	return writeBody(w, r, status, body)
}

// writeBody answers with JSON that is written already.
func writeBody(w http.ResponseWriter, r *http.Request, status int, body []byte) (err error) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, err = w.Write(body)
	}
	return err
}

// EncodeJSON writes a value as one line of JSON without escaping HTML.
func EncodeJSON(v any, metric bool) ([]byte, error) { return units.Encode(v, metric) }
