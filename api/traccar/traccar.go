// Package traccar sends commands to trackers that are behind a Traccar server, by its REST API. It says of each attempt
// whether the command went out, did not, or may have: nobody may send a command twice because it did not hear of the
// first time. It takes a Traccar that knows noQueue, which is 6.7 or later: an older one keeps a command for a tracker
// that is away, and delivers it whenever it is back.
package traccar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/outbound"
)

// Timeout is how long one request may take.
const Timeout = 10 * time.Second

// notConnected says why a command did not go out to a tracker that is away.
const notConnected = "the tracker is not connected to Traccar"

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// Config says which server it is. A server without Token is asked with user and password.
type Config struct {
	URL      string // base address, such as https://traccar.example; the API is below /api
	Token    string
	User     string
	Password string
	Private  bool           // the server may be on this machine or in a private network
	Networks []netip.Prefix // in which the server may be too, whatever they are
}

// Validate says what is wrong with the settings.
func (c *Config) Validate() error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		u.User != nil {
		return errors.New("the address of Traccar must be like https://traccar.example, without user, query and fragment")
	}
	if (c.Token == "") == (c.User == "") {
		return errors.New("a Traccar server needs either a token or a user with a password")
	}
	return nil
}

// Command is what a tracker is to do, in Traccar's words.
type Command struct {
	Device     int64 // as Find gave it
	Type       string
	Attributes map[string]any
}

// Outcome says what became of an attempt.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent"    // Traccar gave it to the tracker's connection
	Held    Outcome = "held"    // Traccar keeps it until the tracker connects
	Away    Outcome = "away"    // it certainly did not go out: the tracker is not connected to Traccar
	Later   Outcome = "later"   // it certainly did not go out, and may another time
	Refused Outcome = "refused" // it did not go out and never will
	Unknown Outcome = "unknown" // it may have gone out
)

// Client asks one Traccar server. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base *url.URL
	http *http.Client
}

// New makes a client. It asks nothing.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	base, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("address of Traccar: %w", err)
	}
	return &Client{cfg: cfg, base: base.JoinPath("api"),
		http: outbound.NewClient(outbound.Reach{Private: cfg.Private, Networks: cfg.Networks},
			outbound.Bounds{Timeout: Timeout, Answer: maxAnswer})}, nil
}

// Send sends a command once, and says what became of it, with words for people.
func (c *Client) Send(ctx context.Context, command Command) (Outcome, string) {
	attributes := map[string]any{}
	for name, value := range command.Attributes {
		attributes[name] = value
	}
	attributes["noQueue"] = true // a tracker that is away gets it from us when it is back, if it still holds then
	body, err := json.Marshal(map[string]any{"deviceId": command.Device, "type": command.Type, "attributes": attributes})
	if err != nil {
		return Refused, "the command cannot be written: " + err.Error()
	}
	status, answer, err := c.ask(ctx, http.MethodPost, c.base.JoinPath("commands", "send"), body)
	switch {
	case err != nil && neverLeft(err):
		return Later, "Traccar cannot be reached"
	case err != nil:
		return Unknown, "Traccar did not answer"
	case status == http.StatusOK:
		return Sent, ""
	case status == http.StatusAccepted:
		return Held, "Traccar keeps it until the tracker connects"
	case status == http.StatusBadRequest && strings.Contains(answer, "Failed to send command"):
		return Away, notConnected
	case status == http.StatusTooManyRequests:
		return Later, "Traccar is asked too often"
	case status >= 300 && status < 500:
		return Refused, fmt.Sprintf("Traccar answered %d: %s", status, firstLine(answer))
	}
	return Unknown, fmt.Sprintf("Traccar answered %d", status)
}

// Find gives the number that Traccar has for a tracker; of none it says whether there may be one another time, and why.
func (c *Client) Find(ctx context.Context, uniqueID string) (int64, Outcome, string) {
	target := c.base.JoinPath("devices")
	target.RawQuery = url.Values{"uniqueId": {uniqueID}}.Encode()
	status, answer, err := c.ask(ctx, http.MethodGet, target, nil)
	switch {
	case err != nil:
		return 0, Later, "Traccar cannot be reached"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return 0, Later, "Traccar does not take the operator's credentials"
	case status == http.StatusNotFound, status == http.StatusBadRequest: // how it tells of one that it does not have
		return 0, Refused, "Traccar knows no tracker of this unique id"
	case status != http.StatusOK:
		return 0, Later, fmt.Sprintf("Traccar answered %d", status)
	}
	var found []struct {
		ID       int64  `json:"id"`
		UniqueID string `json:"uniqueId"`
		Status   string `json:"status"`
	}
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		return 0, Later, "Traccar answered with something else than trackers"
	}
	for _, d := range found {
		if d.UniqueID == uniqueID && d.Status == "offline" { // it has closed its connection, and there is none to send on
			return 0, Away, notConnected
		}
		if d.UniqueID == uniqueID && d.ID > 0 {
			return d.ID, "", ""
		}
	}
	return 0, Refused, "Traccar knows no tracker of this unique id"
}

func (c *Client) ask(ctx context.Context, method string, target *url.URL, body []byte) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return 0, "", fmt.Errorf("ask Traccar: %w", err)
	}
	req.GetBody = nil // a request that may have gone out is not repeated by itself
	req.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	} else {
		req.SetBasicAuth(c.cfg.User, c.cfg.Password)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("ask Traccar: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil && (resp.StatusCode >= 300 || errors.Is(err, outbound.ErrTooLong)) {
		err = nil // its status and beginning say enough
	}
	return resp.StatusCode, string(text), err
}

// neverLeft says whether a request failed before there was a connection to send it on.
func neverLeft(err error) bool {
	var op *net.OpError
	return errors.Is(err, outbound.ErrForbidden) || errors.As(err, &op) && op.Op == "dial"
}

// firstLine is the beginning of a stranger's text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(text, "")), "\n")
	short := []rune(line)
	return string(short[:min(len(short), 200)])
}
