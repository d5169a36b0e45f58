package rest

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
)

func TestAQuietServerLogsTheRequestsThatWentWrong(t *testing.T) {
	for quiet, want := range map[bool]string{false: "/well /wrong", true: "/wrong"} {
		var log bytes.Buffer
		db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{"127.0.0.1:9"}}) // it is asked nothing
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		config := DefaultConfig()
		config.Quiet = quiet
		s, err := New(config, Deps{DB: db, IDs: fleet.NewIDSource(0, time.Now),
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		s.Page(http.MethodGet, "/well", func(http.ResponseWriter, *http.Request) error { return nil })
		handler := s.Handler()
		for _, path := range []string{"/well", "/wrong"} {
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		}
		var told []string
		for line := range strings.Lines(log.String()) {
			_, path, _ := strings.Cut(line, " path=")
			told = append(told, strings.Fields(path)[0])
		}
		if got := strings.Join(told, " "); got != want {
			t.Errorf("quiet is %v: %q was logged, want %q", quiet, got, want)
		}
	}
}
