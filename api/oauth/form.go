package oauth

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/motorpool/fleet/api/rest"
)

// refused is an answer of the authorization server that is not a success (RFC 6749, section 5.2).
type refused struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
	status      int
}

func (e *refused) Error() string { return e.Code + ": " + e.Description }

// refuse makes a refusal with status 400. A description has the characters of RFC 6749 alone: no quotes.
func refuse(code, description string) *refused {
	clean := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return '?'
		}
		return c
	}, description)
	return &refused{Code: code, Description: clean, status: http.StatusBadRequest}
}

// Codes of refusals: of RFC 6749, 7009, 8707 and 9449.
const (
	codeRequest      = "invalid_request"
	codeClient       = "invalid_client"
	codeGrant        = "invalid_grant"
	codeUnauthorized = "unauthorized_client"
	codeGrantType    = "unsupported_grant_type"
	codeScope        = "invalid_scope"
	codeTarget       = "invalid_target"
	codeProof        = "invalid_dpop_proof"
	codeUnavailable  = "temporarily_unavailable"
	codeServer       = "server_error"
	codeDenied       = "access_denied"
	codeResponseType = "unsupported_response_type"
	codeTokenType    = "unsupported_token_type"
)

// writeRefusal answers an endpoint of the authorization server with an error, whatever it is, as RFC 6749 has it.
func (a *API) writeRefusal(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*refused](err)
	if !ok {
		p, ours := rest.ProblemOf(err)
		if ours {
			a.Log.ErrorContext(r.Context(), "request failed", "error", err, "request_id", rest.RequestID(r.Context()),
				"method", r.Method, "path", r.URL.Path)
		}
		e = refuse(codeRequest, p.Detail)
		switch {
		case p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests ||
			p.Status == http.StatusInsufficientStorage:
			e.Code, e.status = codeUnavailable, p.Status
		case p.Status >= http.StatusInternalServerError:
			e.Code, e.status = codeServer, http.StatusInternalServerError
		case p.Status == http.StatusRequestEntityTooLarge || p.Status == http.StatusRequestTimeout ||
			p.Status == http.StatusNotFound:
			e.status = p.Status
		}
	}
	writeJSON(w, e.status, e)
}

// writeJSON writes an answer that nobody may keep.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers only
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

// readForm reads the parameters of a request. One that comes twice is refused, but for those that may (RFC 6749,
// section 3.2); one that is empty is as if it were not there.
func readForm(text string, several ...string) (url.Values, error) {
	form, err := url.ParseQuery(text)
	if err != nil {
		return nil, refuse(codeRequest, "The parameters cannot be read: they must be percent-encoded pairs joined by &.")
	}
	for name, values := range form {
		many := false
		for _, may := range several {
			many = many || may == name
		}
		if len(values) > 1 && !many {
			return nil, refuse(codeRequest, "The parameter "+name+" must be given once.")
		}
		if len(values) == 1 && values[0] == "" {
			delete(form, name)
		}
	}
	return form, nil
}
