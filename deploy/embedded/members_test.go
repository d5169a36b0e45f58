package embedded_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/motorpool/fleet/deploy/embedded"
)

// A member that dies while it waits for the others to join is in the group all the same, with a share of the
// partitions, until its session ends.
func TestMembersThatDieWhileTheyJoinLoseTheirShare(t *testing.T) {
	t.Parallel()
	b := startBroker(t, embedded.BrokerConfig{Dir: t.TempDir()})
	defer b.Stop()
	createTopic(t, &kafka.Client{Addr: kafka.TCP(b.Addr())}, "positions", 4)
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: "readers", Brokers: []string{b.Addr()}, Topics: []string{"positions"}, SessionTimeout: 6 * time.Second,
		HeartbeatInterval: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	share := func() int {
		generation, err := group.Next(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		return len(generation.Assignments["positions"])
	}
	if n := share(); n != 4 {
		t.Fatalf("alone, the reader has %d of 4 partitions", n)
	}
	var dead sync.WaitGroup
	for range 4 { // of each the broker remembers the time of death or not, as it happens
		dead.Go(func() { joinAndDie(t, b.Addr(), "readers", "positions") })
	}
	dead.Wait()
	died := time.Now()
	n := share()
	if n == 4 {
		t.Fatal("the dead have no share: this tests nothing")
	}
	for n < 4 {
		n = share()
	}
	if took := time.Since(died); took > 25*time.Second {
		t.Errorf("alone again, the reader had all partitions after %s, and sessions end after 6s", took)
	}
}

// joinAndDie asks to join a group, and hangs up before it is answered.
func joinAndDie(t *testing.T, addr, group, topic string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	metadata := kmsg.NewConsumerMemberMetadata()
	metadata.Topics = []string{topic}
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name, protocol.Metadata = "range", metadata.AppendTo(nil)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version = 1 // older ones, as kafka-go's, are members at once
	join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = group, "consumer", 6000, 30_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{protocol}
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, join, 1)); err != nil {
		t.Error(err)
	}
}
