package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/stream"
	"github.com/motorpool/fleet/query"
)

// StreamAuth is how long a stream's credential is believed; it is looked at again at the next heartbeat.
var StreamAuth = 45 * time.Second

// Settings of streams.
const (
	streamPage     = 256  // events that are read and sent at a time
	streamSnapshot = 2000 // positions that are read at a time when a stream begins

	behindPause = 300 * time.Millisecond
)

func (a *API) streamRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/stream", ID: "stream", Tag: "Events",
		Summary: "Live stream of positions and events",
		About: "Server-sent events, of what the scopes of the key let it read. Each event of the feed is a message with its type, its sequence as `id` and the event as `data`. Positions are messages `" + fleet.EventLocationUpdated +
			"` without an id, an event of sequence 0 with an object as in `/v1/positions/latest`: " +
			"first the last known one of every matching vehicle, then each as it comes; when several come at once only the newest of a vehicle is sent. " +
			"With `Last-Event-ID` the stream goes on behind that event without a gap. A message `reset` says why something is missing or the stream ends: " +
			"`expired` (events behind the id are gone; it goes on with what comes), `credential` (the key is no longer good, or has other scopes). A comment every 15 seconds keeps the connection open.",
		Params: slices.Concat(eventFilterParams, []rest.Param{
			{Name: "positions", Type: "boolean", About: "`false` leaves positions out."},
			{Name: "bbox", NotEmpty: true,
				About: "`minLng,minLat,maxLng,maxLat` in degrees: only positions within, and one more when a vehicle leaves."},
			{Name: "min_interval_s", Type: "number", Min: 0.1, Max: 86400,
				About: "Least time between two positions of a vehicle."},
			{Name: "last_event_id", About: "As the header, for clients that cannot set it."},
			{Name: "Last-Event-ID", In: "header", About: "The `id` behind which to go on."},
		}),
		Reply: "", ReplyTypes: []string{"text/event-stream"}, Timeout: -1,
	}, a.stream)
}

// subscribe begins a subscription for the request's key.
func (a *API) subscribe(r *http.Request, account fleet.AccountID, filter stream.Filter) (*stream.Subscription, error) {
	sub, err := a.Stream.Subscribe(account, auth.From(r.Context()).Credential(), filter)
	switch {
	case errors.Is(err, stream.ErrTooMany):
		return nil, fleet.NewError(fleet.CodeRateLimited, "This key or account has too many streams open. Close one.")
	case errors.Is(err, stream.ErrEnded):
		return nil, fleet.NewError(fleet.CodeUnavailable, "This process is about to stop. Connect again.")
	}
	return sub, err
}

// streamFilter reads what the stream is to tell.
func (a *API) streamFilter(r *http.Request) (stream.Filter, error) {
	f, err := a.eventFilter(r)
	if err != nil {
		return f, err
	}
	f.Positions = rest.TextParam(r, "positions", "") != "false" &&
		(f.Types == nil || slices.Contains(f.Types, fleet.EventLocationUpdated))
	f.Every = time.Duration(rest.NumberParam(r, "min_interval_s", 0) * float64(time.Second))
	if r.URL.Query().Has("bbox") {
		box, err := rest.BoxParam(r)
		if err != nil {
			return f, err
		}
		f.Box = &box
	}
	return f, nil
}

// lastEventID returns the sequence that the client has, and false if it has none.
func lastEventID(r *http.Request) (uint64, bool, error) {
	text, name := r.Header.Get("Last-Event-ID"), "Last-Event-ID"
	if text == "" {
		text, name = rest.TextParam(r, "last_event_id", ""), "last_event_id"
	}
	if text == "" {
		return 0, false, nil
	}
	after, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, false, rest.InvalidParam(name, "is not an id of this stream")
	}
	return after, true, nil
}

func (a *API) stream(w http.ResponseWriter, r *http.Request) error {
	filter, err := a.streamFilter(r)
	if err != nil {
		return err
	}
	after, resumed, err := lastEventID(r)
	if err != nil {
		return err
	}
	if a.Stream == nil {
		return fleet.NewError(fleet.CodeUnavailable, "This process does not follow events.")
	}
	c := &connection{
		api: a, w: w, r: r, control: http.NewResponseController(w), account: auth.From(r.Context()).Account,
		filter: &filter, metric: rest.MetricUnits(r), checked: time.Now(), scopes: auth.From(r.Context()).Scopes,
	}
	if c.sub, err = a.subscribe(r, c.account, filter); err != nil {
		return err
	}
	defer c.sub.Close()
	if c.cursor = after; !resumed {
		c.cursor = a.Stream.Newest()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // some proxies collect answers unless they are told
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	c.run(r.Context())
	return nil
}

// connection is one open stream; it belongs to the goroutine of its request.
type connection struct {
	api     *API
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	account fleet.AccountID
	filter  *stream.Filter
	sub     *stream.Subscription
	metric  bool
	cursor  uint64 // everything up to this sequence was looked at
	told    uint64 // the last id that the client has
	checked time.Time
	scopes  []auth.Scope // of the key when the stream began
	places  []*stream.Place
}

// errGone says that the client takes nothing any more; nobody is told.
var errGone = errors.New("the client is gone")

// buffers hold what is sent at a time: thousands of idle streams need none.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// send writes what fill puts together, if anything, and flushes it.
func (c *connection) send(fill func(*bytes.Buffer) error) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= 1<<20 {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	if err := fill(buf); err != nil || buf.Len() == 0 {
		return err
	}
	if _, err := c.w.Write(buf.Bytes()); err != nil {
		return errGone
	}
	if err := c.control.Flush(); err != nil {
		return errGone
	}
	return nil
}

// run tells the client what there is until it goes away, its credential does, or the process is to stop.
func (c *connection) run(ctx context.Context) {
	err := c.send(func(buf *bytes.Buffer) error {
		// When a process stops its clients must not all come to the next in the same moment.
		fmt.Fprintf(buf, "retry: %d\nid: %d\n\n", 1000+rand.IntN(4000), c.cursor)
		c.told = c.cursor
		return nil
	})
	if err == nil && c.filter.Positions {
		err = c.snapshot(ctx)
	}
	for beat := c.sub.Beat(); err == nil; {
		var more, behind bool
		if more, behind, err = c.catchUp(ctx); err == nil {
			err = c.tellPlaces()
		}
		if now := c.sub.Beat(); err == nil && now != beat {
			beat = now
			err = c.beat(ctx)
		}
		if err != nil {
			break
		}
		var again <-chan time.Time
		switch {
		case more:
			again = atOnce
		case behind:
			again = time.After(behindPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.sub.Ended():
			return
		case <-c.sub.Woken():
		case <-again:
		}
	}
	if !errors.Is(err, errGone) && ctx.Err() == nil {
		c.api.Log.WarnContext(ctx, "stream ended", "error", err, "request_id", rest.RequestID(ctx))
	}
}

// atOnce is a channel that has always something to give.
var atOnce = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// catchUp tells a page of the events behind the cursor. more says that there are others: whoever comes back after days
// has positions, heartbeats and a look at its credential in between. behind says that some cannot be read yet.
func (c *connection) catchUp(ctx context.Context) (more, behind bool, err error) {
	page, err := c.api.Stream.Read(ctx, c.account, c.cursor, c.filter, streamPage)
	switch {
	case errors.Is(err, stream.ErrExpired):
		c.cursor = c.api.Stream.Newest()
		return true, false, c.reset("expired",
			"Events behind your id are gone. Read what you follow anew; the stream goes on with what comes.", c.cursor)
	case err != nil && ctx.Err() == nil:
		// The store does not answer. The client loses nothing: it is tried again, from the same place.
		c.api.Log.WarnContext(ctx, "events not read, trying again", "error", err, "request_id", rest.RequestID(ctx))
		return false, true, nil
	case err != nil:
		return false, false, err
	}
	err = c.send(func(buf *bytes.Buffer) error {
		for _, item := range page.Items {
			if item.Event.Type == fleet.EventLocationUpdated {
				continue // the stream tells positions itself, and sooner
			}
			text, err := item.Text(c.metric, func() ([]byte, error) {
				return c.api.Events.JSON(&item.Event, item.Sequence, eventview.Form{Metric: c.metric})
			})
			if err != nil {
				return err
			}
			message(buf, item.Event.Type, item.Sequence, text)
			c.told = item.Sequence
		}
		return nil
	})
	c.cursor = page.Upto
	return page.More, page.Behind, err
}

// message writes a message; id 0 is left out. data is one line.
func message(buf *bytes.Buffer, event string, id uint64, data []byte) {
	if id != 0 {
		buf.WriteString("id: ")
		buf.Write(strconv.AppendUint(buf.AvailableBuffer(), id, 10))
		buf.WriteByte('\n')
	}
	buf.WriteString("event: ")
	buf.WriteString(event)
	buf.WriteString("\ndata: ")
	buf.Write(bytes.TrimRight(data, "\n"))
	buf.WriteString("\n\n")
}

// reset tells that something is missing or that the stream ends.
func (c *connection) reset(reason, detail string, id uint64) error {
	return c.send(func(buf *bytes.Buffer) error {
		data, err := json.Marshal(map[string]string{"reason": reason, "detail": detail})
		if err != nil {
			return err
		}
		message(buf, "reset", id, data)
		if id != 0 {
			c.told = id // it may be lower: the client had an id from elsewhere
		}
		return nil
	})
}

// beat keeps the connection open, tells the client how far it has come, and looks at its credential now and then.
func (c *connection) beat(ctx context.Context) error {
	if time.Since(c.checked) >= StreamAuth {
		c.checked = time.Now()
		p, err := c.api.Authenticate(c.r.WithContext(ctx))
		refused := fleet.CodeOf(err) == fleet.CodeUnauthorized || errors.Is(err, auth.ErrMalformed) ||
			errors.Is(err, auth.ErrUnknownKey) ||
			errors.Is(err, auth.ErrExpired) || errors.Is(err, auth.ErrRevoked) || errors.Is(err, auth.ErrAddress)
		if refused || err == nil && !slices.Equal(p.Scopes, c.scopes) {
			_ = c.reset("credential", "The credential is not valid any more, or has other scopes.", 0)
			return errGone
		}
	}
	return c.send(func(buf *bytes.Buffer) error {
		buf.WriteString(":\n")
		if c.cursor > c.told {
			fmt.Fprintf(buf, "id: %d\n", c.cursor)
			c.told = c.cursor
		}
		buf.WriteByte('\n')
		return nil
	})
}

// tellPlaces tells the positions that are new and due.
func (c *connection) tellPlaces() error {
	c.places = c.sub.Places(c.places[:0], time.Now())
	if len(c.places) == 0 {
		return nil
	}
	err := c.send(func(buf *bytes.Buffer) error {
		for _, p := range c.places {
			text, err := p.Text(c.metric, func() ([]byte, error) {
				position := p.Live.Position(c.account, p.Vehicle)
				return c.api.positionText(&position, c.metric)
			})
			if err != nil {
				return err
			}
			message(buf, fleet.EventLocationUpdated, 0, text)
		}
		return nil
	})
	clear(c.places) // they belong to the hub, which forgets them when they are old
	return err
}

// snapshot tells the last known position of every matching vehicle.
func (c *connection) snapshot(ctx context.Context) error {
	f := query.LatestFilter{Account: c.account, Vehicles: c.filter.Vehicles, Box: query.World, Limit: streamSnapshot}
	if c.filter.Box != nil {
		f.Box = *c.filter.Box
	}
	for {
		all, err := query.LatestPositions(ctx, c.api.DB, f)
		if err != nil {
			return err
		}
		err = c.send(func(buf *bytes.Buffer) error {
			for i := range all {
				text, err := c.api.positionText(&all[i].Position, c.metric)
				if err != nil {
					return err
				}
				message(buf, fleet.EventLocationUpdated, 0, text)
				c.sub.Told(all[i].Vehicle, all[i].FixTime, time.Now())
			}
			return nil
		})
		if err != nil || len(all) < f.Limit {
			return err
		}
		f.AfterDistance, f.AfterVehicle = 0, all[len(all)-1].Vehicle
	}
}

// positionText is a position as data of a message, in the envelope of events, written by hand because there are many:
// its object is a LatestPosition.
func (a *API) positionText(p *fleet.Position, metric bool) ([]byte, error) {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, `{"id":"%s","type":"%s","timestamp":"%s","api_version":"%s","account_id":"%s","vehicle_id":"%s",`+
		`"sequence":0,"late":false,"data":{"object":`,
		fleet.FormatID(fleet.EventPrefix, fleet.LocationEventID(p.Account, p.Vehicle, p.FixTime)),
		fleet.EventLocationUpdated, rest.IsoTime(p.FixTime), eventview.Version, p.Account, p.Vehicle)
	if err := a.LivePosition(&buf, p, metric); err != nil {
		return nil, err
	}
	buf.Truncate(buf.Len() - 1) // the end of the line
	buf.WriteString("}}")
	return buf.Bytes(), nil
}
