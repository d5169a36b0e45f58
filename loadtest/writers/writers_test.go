// Package writers lets many clients write one record through two processes of the interface at once: no write is lost,
// none is done twice, and every revision has one author.
package writers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/loadtest/system/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

const (
	writers = 32
	each    = 1 // increments of a writer
)

func TestThirtyTwoWritersOverTwoProcessesLoseNoUpdate(t *testing.T) {
	sys := systemtest.Start(t)
	bases := []string{sys.URL(), "http://" + freeAddr(t)}
	for _, base := range bases {
		systemtest.Process(t, sys, "serve", "--http", base[len("http://"):], "--ops", freeAddr(t))
	}
	key, err := sys.Output("key", "create", "--account", "Writers", "--scopes", "vehicles:read,vehicles:write")
	if err != nil {
		t.Fatal(err)
	}
	c := client{t, key}
	for _, base := range bases {
		for deadline := time.Now().Add(20 * time.Second); c.try("GET", base+"/v1/vehicles", "", nil).status != 200; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not answer", base)
			}
		}
	}
	made := c.try("POST", bases[0]+"/v1/vehicles", "", map[string]any{"make": "Renault", "model": "Twizy", "year": 2015, "metadata": map[string]string{"counter": "0"}})
	if made.status != http.StatusCreated {
		t.Fatalf("%d %s", made.status, made.body)
	}
	var vehicle struct {
		ID       string
		Revision int
		Metadata map[string]string
	}
	made.decode(&vehicle)

	var stale, won atomic.Int64
	var work errgroup.Group
	for w := range writers {
		base := bases[w%len(bases)]
		work.Go(func() error {
			for done := 0; done < each; {
				seen := c.try("GET", base+"/v1/vehicles/"+vehicle.ID, "", nil)
				var now struct{ Metadata map[string]string }
				seen.decode(&now)
				counter, err := strconv.Atoi(now.Metadata["counter"])
				if err != nil {
					return fmt.Errorf("%d %s", seen.status, seen.body)
				}
				answer := c.try("PATCH", base+"/v1/vehicles/"+vehicle.ID, seen.etag, map[string]any{"metadata": map[string]string{"counter": strconv.Itoa(counter + 1)}})
				switch answer.status {
				case http.StatusOK:
					done++
					won.Add(1)
				case http.StatusPreconditionFailed:
					stale.Add(1)
				case http.StatusTooManyRequests:
					time.Sleep(time.Second)
				default:
					return fmt.Errorf("%d %s", answer.status, answer.body)
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, base := range bases {
		c.try("GET", base+"/v1/vehicles/"+vehicle.ID, "", nil).decode(&vehicle)
		if vehicle.Metadata["counter"] != strconv.Itoa(writers*each) || vehicle.Revision != 1+writers*each {
			t.Errorf("%s: counter %s at revision %d after %d increments", base, vehicle.Metadata["counter"], vehicle.Revision, writers*each)
		}
	}
	t.Logf("%d writes won, %d were told that they were stale", won.Load(), stale.Load())
	if stale.Load() == 0 {
		t.Error("nobody was ever stale: the writers did not meet")
	}
	var rows, revisions uint64
	if err := sys.DB.QueryRow(t.Context(), "SELECT count(), uniqExact(revision) FROM record_log WHERE kind = 'vehicle'").Scan(&rows, &revisions); err != nil {
		t.Fatal(err)
	}
	if rows != 1+writers*each || revisions != rows {
		t.Errorf("%d rows of %d revisions in the log, want %d of each", rows, revisions, 1+writers*each)
	}
}

type client struct {
	t   *testing.T
	key string
}

type answer struct {
	status int
	etag   string
	body   []byte
}

// decode reads the JSON of an answer; one that is none leaves v as it is.
func (a answer) decode(v any) { _ = json.Unmarshal(a.body, v) }

func (c client) try(method, url, match string, body any) answer {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{body: []byte(err.Error())}
		}
		in = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, url, in)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	return answer{status: response.StatusCode, etag: response.Header.Get("ETag"), body: text}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
