package embeddedtest_test

import (
	"os"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func TestClickHouseIsOneServerForAllTests(t *testing.T) {
	addr, httpAddr, user, password := embeddedtest.ClickHouse(t)
	again, _, _, _ := embeddedtest.ClickHouse(t)
	if addr != again {
		t.Errorf("a second call gave %s, the first %s", again, addr)
	}
	for _, c := range []struct {
		addr     string
		protocol clickhouse.Protocol
	}{{addr, clickhouse.Native}, {httpAddr, clickhouse.HTTP}} {
		db := clickhouse.OpenDB(&clickhouse.Options{
			Addr: []string{c.addr}, Protocol: c.protocol,
			Auth: clickhouse.Auth{Username: user, Password: password},
		})
		defer db.Close()
		var name string
		if err := db.QueryRow("SELECT currentUser()").Scan(&name); err != nil {
			t.Fatalf("%s: %v", c.addr, err)
		}
		if name != user {
			t.Errorf("%s: logged in as %s, want %s", c.addr, name, user)
		}
	}
}
