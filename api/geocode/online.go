package geocode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/uber/h3-go/v4"
	"golang.org/x/time/rate"
)

// Config says which server is asked for addresses, and how gently.
type Config struct {
	Provider  string         `json:"provider"`   // Nominatim or Photon; empty means that none is asked
	URL       string         `json:"url"`        // the server's base address, such as https://geocoder.example
	UserAgent string         `json:"user_agent"` // public servers want one that names who asks
	Language  string         `json:"language"`   // of the answers, as in Accept-Language
	PerSecond float64        `json:"per_second"` // requests; public Nominatim allows 1
	Timeout   time.Duration  `json:"timeout"`    // of one request
	Waiting   int            `json:"waiting"`    // places that wait to be asked for; beyond it the oldest is forgotten
	Remember  int            `json:"remember"`   // addresses held in memory
	Private   bool           `json:"private"`    // the server may be on this machine or in a private network
	Networks  []netip.Prefix `json:"networks"`   // in which the server may be too, whatever they are
}

// Providers.
const (
	Nominatim = "nominatim"
	Photon    = "photon"
)

// cellResolution is the H3 resolution of what one address stands for: about 2,000 m², a house or two.
const cellResolution = 11

// DefaultConfig asks nobody.
func DefaultConfig() Config {
	return Config{
		UserAgent: "motorpool", Language: "en", PerSecond: 1, Timeout: 10 * time.Second, Waiting: 1000, Remember: 50_000,
	}
}

// Validate says what is wrong with the settings.
func (c Config) Validate() error {
	if c.Provider == "" {
		return nil
	}
	var problems []error
	if c.Provider != Nominatim && c.Provider != Photon {
		problems = append(problems, fmt.Errorf("geocode provider %q is neither %s nor %s", c.Provider, Nominatim, Photon))
	}
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.RawQuery != "" || u.Fragment != "" {
		problems = append(problems, fmt.Errorf("geocode url %q is not the base address of a server", c.URL))
	}
	if !(c.PerSecond > 0) || c.Timeout <= 0 || c.Waiting < 1 || c.Remember < 2 {
		problems = append(problems, errors.New("geocode per_second, timeout, waiting and remember must be positive"))
	}
	return errors.Join(problems...)
}

// Online gives the addresses of a geocoding server. Address answers from memory and never waits: what is not in memory
// is noted, and Run looks it up in the table of addresses or asks the server, one cell at a time. Until then, and where
// the server knows nothing or cannot be reached, the gazetteer answers.
//
// The server is asked for the middle of a cell, so it never learns a vehicle's exact position, and one address serves
// all positions of the cell. Online is safe for concurrent use.
type Online struct {
	cfg     Config
	offline *Gazetteer
	db      driver.Conn
	log     *slog.Logger
	client  *client
	limit   *rate.Limiter
	noted   chan struct{} // holds one token while fresh is not empty
	unsaved []saved       // only used by Run

	mu    sync.Mutex // guards what follows
	known memory
	fresh []h3.Cell // neither looked up nor asked for yet, newest last
	asked []h3.Cell // not in the table, to be asked for, newest last; only Run changes it
	wants map[h3.Cell]bool
}

type saved struct {
	cell    h3.Cell
	at      time.Time
	address string
}

// NewOnline makes a geocoder with a server. It starts nothing: Run does the work.
func NewOnline(cfg Config, offline *Gazetteer, db driver.Conn, log *slog.Logger) (*Online, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	client, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	return &Online{
		cfg: cfg, offline: offline, db: db, log: log, client: client, limit: rate.NewLimiter(rate.Limit(cfg.PerSecond), 1),
		noted: make(chan struct{}, 1), known: memory{size: cfg.Remember}, wants: make(map[h3.Cell]bool),
	}, nil
}

// Address returns the words for a place: the server's if they are in memory, else the gazetteer's.
func (o *Online) Address(lat, lng float64) string {
	if !(lat >= -90 && lat <= 90 && lng >= -180 && lng <= 180) {
		return ""
	}
	cell, err := h3.LatLngToCell(h3.LatLng{Lat: lat, Lng: lng}, cellResolution)
	if err != nil {
		return o.offline.Address(lat, lng)
	}
	if address := o.recall(cell); address != "" {
		return address
	}
	return o.offline.Address(lat, lng)
}

// recall returns the address of a cell from memory, and notes the cell if nothing is known of it.
func (o *Online) recall(cell h3.Cell) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	address, ok := o.known.get(cell)
	if ok || o.wants[cell] {
		return address
	}
	o.wants[cell] = true
	o.fresh = append(o.fresh, cell)
	if len(o.fresh) > o.cfg.Waiting {
		delete(o.wants, o.fresh[0])
		o.fresh = o.fresh[1:]
	}
	select {
	case o.noted <- struct{}{}:
	default:
	}
	return ""
}

// learn puts an answer into memory; an empty one means that there is none, and is not asked for again.
func (o *Online) learn(cell h3.Cell, address string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.wants, cell)
	o.known.put(cell, address)
}

// Run looks up and asks for what Address noted until the context ends, and then saves what is unsaved. It returns nil:
// a store or server that cannot be reached is logged and tried again later.
func (o *Online) Run(ctx context.Context) error {
	defer o.saveLast()
	save := time.NewTicker(saveEvery)
	defer save.Stop()
	pause := time.Duration(0)
	var turn <-chan time.Time // when the server may be asked next; nil while there is nothing to ask
	for {
		if turn == nil && o.toAsk() > 0 {
			turn = time.After(max(pause, o.limit.Reserve().Delay()))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-o.noted:
			o.lookUp(ctx)
		case <-save.C:
			o.save(ctx)
		case <-turn:
			turn = nil
			if err := o.ask(ctx); err == nil {
				pause = 0
			} else if ctx.Err() == nil {
				pause = min(max(2*pause, time.Second), 5*time.Minute)
				o.log.WarnContext(ctx, "geocoding server gave no address", "error", err, "pause", pause)
			}
		}
	}
}

func (o *Online) toAsk() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.asked)
}

// lookUp takes what was noted and looks for it in the table; the rest is to be asked for.
func (o *Online) lookUp(ctx context.Context) {
	o.mu.Lock()
	cells := o.fresh
	o.fresh = nil
	o.mu.Unlock()
	found, err := load(ctx, o.db, o.cfg.Provider, cells)
	if err != nil && ctx.Err() == nil {
		o.log.WarnContext(ctx, "addresses cannot be read", "error", err)
	}
	for cell, address := range found {
		o.learn(cell, address)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, cell := range cells {
		if o.wants[cell] {
			o.asked = append(o.asked, cell)
		}
	}
	if over := len(o.asked) - o.cfg.Waiting; over > 0 {
		for _, cell := range o.asked[:over] {
			delete(o.wants, cell)
		}
		o.asked = append([]h3.Cell(nil), o.asked[over:]...)
	}
}

// ask asks the server for the cell that was noted last, because somebody is looking at it now. After a failure the cell
// is forgotten, and noted again when somebody looks again.
func (o *Online) ask(ctx context.Context) error {
	o.mu.Lock()
	cell := o.asked[len(o.asked)-1]
	o.asked = o.asked[:len(o.asked)-1]
	o.mu.Unlock()
	middle, err := h3.CellToLatLng(cell)
	if err != nil {
		return fmt.Errorf("middle of cell %s: %w", cell, err)
	}
	address, err := o.client.reverse(ctx, middle.Lat, middle.Lng)
	if err != nil {
		o.mu.Lock()
		delete(o.wants, cell)
		o.mu.Unlock()
		return err
	}
	o.learn(cell, address)
	o.unsaved = append(o.unsaved, saved{cell: cell, at: time.Now(), address: address})
	if len(o.unsaved) >= saveAt {
		o.save(ctx)
	}
	return nil
}

// memory holds addresses of at most size cells, the recently used ones among them: when the newer half is full, the
// older half is dropped and the newer one becomes the older.
type memory struct {
	size         int
	newer, older map[h3.Cell]string
}

func (m *memory) get(cell h3.Cell) (string, bool) {
	if address, ok := m.newer[cell]; ok {
		return address, true
	}
	address, ok := m.older[cell]
	if ok {
		m.put(cell, address)
	}
	return address, ok
}

func (m *memory) put(cell h3.Cell, address string) {
	if m.newer == nil || len(m.newer) >= m.size/2 {
		m.older, m.newer = m.newer, make(map[h3.Cell]string)
	}
	m.newer[cell] = address
}
