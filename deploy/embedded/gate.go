package embedded

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Gate stands before the engine's HTTP port for users who may not see all that is on the machine. Grants and row
// filters hold what they read of tables. Three sorts of functions of this engine heed neither: file, which reads any
// file of this process, those that show the keys of all rows of a table whoever may see them (mergeTreeIndex and its
// kin), and those that run a text as a query. The gate refuses a query in which the name of one stands, in whatever
// spelling. So that there is no way around it, the engine's passwords of these users are known to the gate alone.
type Gate struct {
	server *http.Server
	addr   string
}

// Guest is a user whom a gate lets in.
type Guest struct {
	SHA256 string // of the password that the user gives, in hex
	Engine string // the password by which the engine knows the user; "" if it does so from its next start on
}

// GateConfig says where a gate listens, what is behind it, and for whom it opens.
type GateConfig struct {
	Addr   string // host:port; the port 0 picks a free one
	Engine string // host:port of the engine's HTTP protocol
	// Guest returns the guest of a name, and whether there is one; it is asked for every request.
	Guest  func(name string) (Guest, bool)
	Logger *slog.Logger
}

// mostQuery is the length of the longest text that is taken for a query, in bytes.
const mostQuery = 1 << 20

// OpenGate listens, and passes queries on until the gate is closed.
func OpenGate(c GateConfig) (*Gate, error) {
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("open the gate for analysts: %w", err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: c.Engine}) },
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(c.Logger.Handler(), slog.LevelWarn),
	}
	g := &Gate{addr: listener.Addr().String(), server: &http.Server{
		Handler:           &gateHandler{guest: c.Guest, next: proxy},
		ReadHeaderTimeout: helloTimeout, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: mostQuery, ErrorLog: proxy.ErrorLog,
	}}
	go func() {
		if err := g.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			c.Logger.Error("the gate for analysts is closed", "error", err)
		}
	}()
	return g, nil
}

// Addr is host:port where the gate listens.
func (g *Gate) Addr() string { return g.addr }

// Close ends the gate, and the queries that came through it.
func (g *Gate) Close() error { return g.server.Close() }

type gateHandler struct {
	guest func(name string) (Guest, bool)
	next  http.Handler
}

func (h *gateHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	params, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "the address cannot be read: "+err.Error())
		return
	case r.URL.Path == "/ping":
		ping(w, r)
		return
	case r.URL.Path != "/" && r.URL.Path != "" || r.Method != http.MethodGet && r.Method != http.MethodPost:
		refuse(w, http.StatusNotFound, "queries are sent to / by GET or POST")
		return
	}
	name, password := login(r, params)
	guest, known := h.guest(name)
	sum := sha256.Sum256([]byte(password))
	want, _ := hex.DecodeString(guest.SHA256)
	if subtle.ConstantTimeCompare(sum[:], want) != 1 || !known {
		w.Header().Set("WWW-Authenticate", `Basic realm="ClickHouse"`)
		w.Header().Set("X-ClickHouse-Exception-Code", fmt.Sprint(authFailed))
		refuse(w, http.StatusUnauthorized, fmt.Sprintf("Code: %d. DB::Exception: %s: Authentication failed: password is incorrect, "+
			"or there is no user with such name. (AUTHENTICATION_FAILED)", authFailed, name))
		return
	}
	if guest.Engine == "" {
		w.Header().Set("X-ClickHouse-Exception-Code", fmt.Sprint(authFailed))
		refuse(w, http.StatusForbidden, fmt.Sprintf("Code: %d. DB::Exception: %s: the user was made after 'motorpool up' was started, "+
			"and comes in after its next start. (AUTHENTICATION_FAILED)", authFailed, name))
		return
	}
	body, err := queryBody(w, r, params)
	if err == nil {
		err = checkQuery(params, body)
	}
	if err != nil {
		w.Header().Set("X-ClickHouse-Exception-Code", "497")
		refuse(w, http.StatusForbidden, "Code: 497. DB::Exception: "+err.Error()+". (ACCESS_DENIED)")
		return
	}
	out := r.Clone(r.Context())
	for header := range out.Header {
		if strings.HasPrefix(header, "X-Clickhouse-") && !slices.Contains(passed, header) {
			out.Header.Del(header)
		}
	}
	out.SetBasicAuth(name, guest.Engine)
	// What the engine reads is what was looked at, written anew.
	out.URL.RawQuery = params.Encode()
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.TransferEncoding = nil
	out.Header.Set("Content-Type", "text/plain; charset=UTF-8")
	h.next.ServeHTTP(w, out)
}

// passed are the headers of ClickHouse that reach the engine.
var passed = []string{"X-Clickhouse-Database", "X-Clickhouse-Format", "X-Clickhouse-Timezone"}

// ping answers as the engine does. The engine reads a query in such a request too, so that it sees none of them.
func ping(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "/ping is asked by GET or HEAD")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	_, _ = io.WriteString(w, "Ok.\n")
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, why+"\n")
}

// login takes the credentials out of a request, in the three ways in which ClickHouse takes them.
func login(r *http.Request, params url.Values) (name, password string) {
	name, password = params.Get("user"), params.Get("password")
	params.Del("user")
	params.Del("password")
	if user := r.Header.Get("X-ClickHouse-User"); user != "" {
		return user, r.Header.Get("X-ClickHouse-Key")
	}
	if user, key, ok := r.BasicAuth(); ok {
		return user, key
	}
	return name, password
}

// queryBody reads the text that is sent with a request. What cannot be looked at is refused.
func queryBody(w http.ResponseWriter, r *http.Request, params url.Values) ([]byte, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, errors.New("a query may not be sent compressed: switch off the compression of requests in the client")
	}
	if value := params.Get("decompress"); value != "" && value != "0" {
		return nil, errors.New("a query may not be sent compressed: switch off the compression of requests in the client")
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Type"))), "multipart/") {
		return nil, errors.New("a query may not be sent as a form, and no tables along with it")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostQuery))
	if err != nil {
		return nil, fmt.Errorf("the query cannot be read: %w", err)
	}
	return body, nil
}

// forbidden are the functions that heed no grant and no row filter.
var forbidden = []string{
	"file", "mergetreeindex", "mergetreetextindex", "mergetreeanalyzeindexes", "mergetreeanalyzeindexesuuid",
	"mergetreeprojection", "eval", "fuzzquery", "catboostevaluate",
}

// checkQuery refuses a request in which one of the forbidden names stands as a word. The engine joins the parameter
// query and the body, and reads escapes inside of quoted names.
func checkQuery(params url.Values, body []byte) error {
	texts := []string{string(body)}
	for key, values := range params {
		for _, value := range values {
			texts = append(texts, key, value)
			if key == "query" {
				texts = append(texts, value+string(body))
			}
		}
	}
	for _, text := range texts {
		for _, spelling := range spellings(text) {
			for _, word := range queryWord.FindAllString(spelling, -1) {
				if slices.Contains(forbidden, strings.ToLower(word)) {
					return fmt.Errorf("the word %s may not stand in a query on the engine of 'motorpool up', not even in a text: "+
						"its function would read what other accounts have", word)
				}
			}
		}
	}
	return nil
}

var (
	queryWord = regexp.MustCompile(`[A-Za-z0-9_]+`)
	hexEscape = regexp.MustCompile(`\\x[0-9A-Fa-f]{2}`)
)

// spellings returns what a text may be read as: as it stands, with its percent signs decoded, as a form would be, and
// each of these with the escapes of a quoted name resolved or left out.
func spellings(text string) []string {
	all := []string{text}
	if form, err := url.QueryUnescape(text); err == nil && form != text {
		all = append(all, form)
	}
	for _, t := range slices.Clone(all) {
		if !strings.Contains(t, `\`) {
			continue
		}
		resolved := hexEscape.ReplaceAllStringFunc(strings.ReplaceAll(t, `\N`, ""), func(escape string) string {
			letter, _ := hex.DecodeString(escape[2:])
			return string(letter)
		})
		all = append(all, resolved, strings.ReplaceAll(resolved, `\`, ""))
	}
	return all
}
