package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/webhook"
)

// listenCommand follows the events of an account while somebody develops what receives them.
type listenCommand struct {
	ForwardTo string   `help:"Address that each event is sent to, signed as webhooks are, such as http://127.0.0.1:3000/hooks; events are only printed without it." placeholder:"URL"`
	URL       string   `name:"url" help:"The interface; that of --http on this machine unless given." placeholder:"URL"`
	Key       string   `help:"API key of the account; better in a file or the environment, as others see command lines."`
	KeyFile   string   `help:"File whose first line is the API key." type:"path"`
	Types     []string `help:"Only these: types, prefix.* or categories; all that the key may hear unless given, but for places." placeholder:"TYPE"`
	Secret    string   `help:"What events are signed with (whsec_…); one is made and printed unless given."`
	After     uint64   `help:"Begin behind the event with this sequence; with what comes from now on unless given."`
}

func (*listenCommand) Help() string {
	return `Follows what happens in an account, without an endpoint, a name or an open port: for who writes a receiver of webhooks on
their own machine. Each event is sent once, in order, and what came of it is printed; after a break of the connection it
goes on where it stood.

  motorpool listen --key-file key --forward-to http://127.0.0.1:3000/hooks
  motorpool listen --key-file key --types booking.*,alerts | jq .data.object`
}

// Run follows events until ctx ends, or the key is refused.
func (c *listenCommand) Run(ctx context.Context, s settings, o output) error {
	l, err := c.listening(&s, o)
	if err != nil {
		return err
	}
	if l.to != "" && c.Secret == "" {
		fmt.Fprintf(o.err, "events are signed with %s\n", l.secret)
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 500*time.Millisecond, 15*time.Second
	for {
		err := l.follow(ctx, pauses.Reset)
		if ctx.Err() != nil {
			return nil
		}
		if _, final := errors.AsType[refusedError](err); final {
			return err
		}
		pause := pauses.NextBackOff()
		fmt.Fprintf(o.err, "%v; connecting again in %v\n", err, pause.Round(100*time.Millisecond))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// listening is a run of the command.
type listening struct {
	stream  string // address with its parameters
	key     string
	to      string // "" prints alone
	secret  string
	after   string // sequence of the last event that was handed on; "" is none
	out     io.Writer
	err     io.Writer
	streams *http.Client // of the interface
	client  *http.Client // of the receiver: it is the machine of whoever calls, and may be anywhere
}

// listening checks what was asked for.
func (c *listenCommand) listening(s *settings, o output) (*listening, error) {
	l := &listening{key: c.Key, to: c.ForwardTo, secret: c.Secret, out: o.out, err: o.err, streams: &http.Client{},
		client: &http.Client{Timeout: 30 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if c.KeyFile != "" {
		text, err := os.ReadFile(c.KeyFile)
		if err != nil {
			return nil, err
		}
		line, _, _ := strings.Cut(string(text), "\n")
		l.key = strings.TrimSpace(line)
	}
	if l.key == "" {
		return nil, errors.New("no API key: give --key-file, or MOTORPOOL_KEY; 'motorpool key create' makes one")
	}
	if l.to != "" {
		if at, err := url.Parse(l.to); err != nil || at.Host == "" || !slices.Contains([]string{"http", "https"}, at.Scheme) {
			return nil, fmt.Errorf("--forward-to %q is no address such as http://127.0.0.1:3000/hooks", l.to)
		}
	}
	if l.secret == "" {
		l.secret = webhook.NewSecret(webhook.SignatureShared)
	}
	if _, err := webhook.Sign([]string{l.secret}, "evt_1", time.Now(), nil); err != nil {
		return nil, errors.New("--secret is none: it is whsec_ and base64, as an endpoint's secret is shown")
	}
	base := c.URL
	if base == "" {
		base = "http://" + reachable(s.HTTP)
	}
	asked := url.Values{"positions": {strconv.FormatBool(slices.Contains(c.Types, "vehicle.location.updated"))}}
	if len(c.Types) > 0 {
		asked.Set("types", strings.Join(c.Types, ","))
	}
	if c.After > 0 {
		l.after = strconv.FormatUint(c.After, 10)
	}
	l.stream = strings.TrimSuffix(base, "/") + "/v1/stream?" + asked.Encode()
	return l, nil
}

// refusedError is an answer that trying again does not change.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// follow reads the stream until it ends, and says by steady that it goes well.
func (l *listening) follow(ctx context.Context, steady func()) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.stream, nil)
	if err != nil {
		return refusedError(err.Error())
	}
	request.Header.Set("Authorization", "Bearer "+l.key)
	request.Header.Set("Accept", "text/event-stream")
	if l.after != "" {
		request.Header.Set("Last-Event-ID", l.after)
	}
	answer, err := l.streams.Do(request)
	if err != nil {
		return fmt.Errorf("the interface cannot be reached: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return refusal(answer)
	}
	lines := bufio.NewReader(answer.Body)
	var m message
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("the stream has ended: %w", err)
		}
		if !m.add(strings.TrimRight(line, "\r\n")) {
			continue
		}
		if err := l.take(ctx, &m); err != nil {
			return err
		}
		if m.id != "" {
			l.after = m.id // only now: what was cut short comes again
		}
		m = message{}
		steady()
	}
}

// refusal is an answer of the interface that is no stream. Those that come of a start, a stop or a crowd may pass.
func refusal(answer *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	var p rest.Problem
	if err != nil || json.Unmarshal(text, &p) != nil || p.Detail == "" {
		p.Detail = "answered " + answer.Status
	}
	if answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests {
		return errors.New(p.Detail)
	}
	return refusedError(p.Detail)
}

// message is one of server-sent events, as far as it was read.
type message struct {
	id, event string
	data      []byte
}

// add takes a line, and says whether the message is whole.
func (m *message) add(line string) bool {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		m.id = value
	case "event":
		m.event = value
	case "data":
		m.data = append(m.data, value...)
	}
	return line == ""
}

// take hands an event on. What the receiver makes of it does not stop the stream.
func (l *listening) take(ctx context.Context, m *message) error {
	if m.data == nil {
		return nil // a sign of life
	}
	if m.event == "reset" {
		var why struct{ Reason, Detail string }
		if err := json.Unmarshal(m.data, &why); err != nil {
			return err
		}
		if why.Reason == "credential" {
			return refusedError(why.Detail)
		}
		fmt.Fprintln(l.err, why.Detail)
		return nil
	}
	if l.to == "" {
		_, err := fmt.Fprintf(l.out, "%s\n", m.data)
		return err
	}
	var event struct{ ID string }
	if err := json.Unmarshal(m.data, &event); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	began := time.Now()
	status, err := l.forward(ctx, event.ID, m.data)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, err = fmt.Fprintf(l.out, "%s  %s  %s  %s  %d ms\n", began.Format(time.TimeOnly), m.event, event.ID,
		outcome(status, err), time.Since(began).Milliseconds())
	return err
}

// outcome is what came of an event, for people.
func outcome(status string, err error) string {
	if asked, ok := errors.AsType[*url.Error](err); ok {
		err = asked.Err
	}
	if err != nil {
		return err.Error()
	}
	return status
}

// forward sends an event as a webhook is sent, and returns the status of the answer.
func (l *listening) forward(ctx context.Context, id string, body []byte) (string, error) {
	now := time.Now()
	signature, err := webhook.Sign([]string{l.secret}, id, now, body)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "webhook-id": id,
		"webhook-timestamp": strconv.FormatInt(now.Unix(), 10), "webhook-signature": signature} {
		request.Header.Set(name, value)
	}
	answer, err := l.client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // the connection is used again
	return answer.Status, nil
}
