package geocode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/motorpool/fleet/api/outbound"
)

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 256 << 10

// client asks one server. An answer must not come from inside the operator's own network unless the operator said so.
type client struct {
	cfg  Config
	base *url.URL
	http *http.Client
}

func newClient(cfg Config) (*client, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("geocode url: %w", err)
	}
	return &client{cfg: cfg, base: base,
		http: outbound.NewClient(outbound.Reach{Private: cfg.Private, Networks: cfg.Networks},
			outbound.Bounds{Timeout: cfg.Timeout, Answer: maxAnswer})}, nil
}

// reverse asks for the address of a place; "" means that the server knows none.
func (c *client) reverse(ctx context.Context, lat, lng float64) (string, error) {
	target := c.base.JoinPath("reverse")
	q := url.Values{"lat": {strconv.FormatFloat(lat, 'f', 6, 64)}, "lon": {strconv.FormatFloat(lng, 'f', 6, 64)}}
	if c.cfg.Provider == Nominatim {
		q.Set("format", "jsonv2")
		q.Set("zoom", "18")
		q.Set("addressdetails", "0")
	} else {
		q.Set("limit", "1")
	}
	target.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return "", fmt.Errorf("ask geocoding server: %w", err)
	}
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	req.Header.Set("Accept", "application/json")
	if c.cfg.Language != "" {
		req.Header.Set("Accept-Language", c.cfg.Language)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask geocoding server: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", fmt.Errorf("ask geocoding server: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask geocoding server: it answered %s", resp.Status)
	}
	if c.cfg.Provider == Nominatim {
		return nominatimAddress(body)
	}
	return photonAddress(body)
}

// nominatimAddress reads an answer of Nominatim's /reverse in its format jsonv2.
func nominatimAddress(body []byte) (string, error) {
	var answer struct {
		DisplayName string `json:"display_name"`
		Error       string `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fmt.Errorf("read answer of Nominatim: %w", err)
	}
	if answer.DisplayName == "" && answer.Error == "" {
		return "", errors.New("read answer of Nominatim: it has no display_name")
	}
	return tidy(answer.DisplayName), nil
}

// photonAddress reads an answer of Photon's /reverse, a GeoJSON collection, and puts its parts into one line.
func photonAddress(body []byte) (string, error) {
	var answer struct {
		Type     string `json:"type"`
		Features []struct {
			Properties struct {
				Name, Housenumber, Street, District, Postcode, City, County, State, Country string
			} `json:"properties"`
		} `json:"features"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fmt.Errorf("read answer of Photon: %w", err)
	}
	if answer.Type != "FeatureCollection" {
		return "", errors.New("read answer of Photon: it is no FeatureCollection")
	}
	if len(answer.Features) == 0 {
		return "", nil
	}
	p := answer.Features[0].Properties
	town := p.City
	if town == "" {
		town = p.County
	}
	var parts []string
	for _, part := range []string{p.Name, p.Street + " " + p.Housenumber, p.District, p.Postcode + " " + town,
		p.State, p.Country} {
		part = tidy(part)
		if part != "" && (len(parts) == 0 || parts[len(parts)-1] != part) {
			parts = append(parts, part)
		}
	}
	return tidy(strings.Join(parts, ", ")), nil
}

// tidy makes one line of at most 300 characters out of a stranger's text.
func tidy(text string) string {
	words := strings.Fields(strings.ToValidUTF8(text, ""))
	line := []rune(strings.Join(words, " "))
	return string(line[:min(len(line), 300)])
}
