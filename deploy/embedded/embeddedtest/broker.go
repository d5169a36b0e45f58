package embeddedtest

import (
	"os"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Broker returns the address of a broker for this test alone: in this
// process, in memory, with no topics, closed when the test ends. If
// MOTORPOOL_TEST_KAFKA names a real broker it returns that one, which other
// tests use too and which ignores opts: name topics and groups after the test.
func Broker(t testing.TB, opts ...kfake.Opt) (addr string) {
	t.Helper()
	if server := os.Getenv("MOTORPOOL_TEST_KAFKA"); server != "" {
		return server
	}
	addr, _ = FakeBroker(t, opts...)
	return addr
}

// FakeBroker is Broker for tests that inject faults, which takes the fake
// whatever the environment says. kfake.DataDir(dir) among opts keeps its log
// on disk.
func FakeBroker(t testing.TB, opts ...kfake.Opt) (addr string, cluster *kfake.Cluster) {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()[0], cluster
}
