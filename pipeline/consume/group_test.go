package consume

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestRebalanceLosesAndRepeatsNothing(t *testing.T) {
	addr := anyBroker(t)
	admin := newProcess(t, addr)
	const partitions, rounds = 4, 30
	topic := createTopic(t, admin.client, partitions)
	cfg := testConfig(t)
	cfg.MaxRows = 7
	done := newLedger()
	one := start(t, cfg, newProcess(t, addr), []string{topic}, done.handler)
	var two *running
	owned := make(chan struct{}, 100)
	for round := range rounds {
		if round == 2*rounds/3 { // what comes before that, the first may have handled before the second had joined
			select {
			case <-owned:
			case <-time.After(20 * time.Second):
				t.Fatal("the second member gets no partition")
			}
		}
		for partition := range partitions {
			produce(t, admin.client, topic, partition, numbered(fmt.Sprint(round), 20)...)
		}
		switch round {
		case rounds / 3:
			done.await(t, 20)
			two = start(t, cfg, newProcess(t, addr), []string{topic}, func(string, int) Handler {
				owned <- struct{}{}
				return done
			})
		case 2 * rounds / 3:
			eventually(t, "both members own partitions", func() bool { return two.metric(t, "records_total") > 0 })
			one.stop()
			if err := one.wait(t); err != nil {
				t.Fatal(err)
			}
		}
	}
	done.await(t, partitions*rounds*20)
	two.stop()
	if err := two.wait(t); err != nil {
		t.Fatal(err)
	}
	for partition := range partitions {
		done.checkPartition(t, partition, 0, rounds*20-1)
	}
}

func TestRebalanceLetsTheBatchInHandFinishAndDropsTheNext(t *testing.T) {
	addr := anyBroker(t)
	admin := newProcess(t, addr)
	topic := createTopic(t, admin.client, 1)
	produce(t, admin.client, topic, 0, numbered("v", 10)...)
	cfg := testConfig(t)
	cfg.MaxRows = 5
	done := newLedger()
	entered, proceed := make(chan struct{}, 1), make(chan struct{})
	one := start(t, cfg, newProcess(t, addr), []string{topic}, func(string, int) Handler {
		return handle(func(ctx context.Context, b *Batch) error {
			select {
			case entered <- struct{}{}:
				<-proceed
			default:
			}
			return done.Handle(ctx, b)
		})
	})
	<-entered
	two := start(t, cfg, newProcess(t, addr), []string{topic}, done.handler)
	eventually(t, "the group is rebalancing", func() bool {
		groups, err := admin.client.DescribeGroups(t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{cfg.Group}})
		return err == nil && groups.Groups[0].GroupState == "PreparingRebalance"
	})
	close(proceed)
	done.await(t, 10)
	one.stop()
	two.stop()
	if err := errors.Join(one.wait(t), two.wait(t)); err != nil {
		t.Fatal(err)
	}
	done.checkPartition(t, 0, 0, 9)
	for token, n := range done.times {
		if n != 1 {
			t.Errorf("%s was handled %d times", token, n)
		}
	}
}

func TestCommitOfAnOldGenerationIsRefused(t *testing.T) {
	addr := anyBroker(t)
	p := newProcess(t, addr)
	topic := createTopic(t, p.client, 1)
	cfg := testConfig(t)
	join := func() (*kafka.ConsumerGroup, *kafka.Generation) {
		group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
			ID: cfg.Group, Brokers: []string{addr}, Dialer: p.dialer, Topics: []string{topic},
			HeartbeatInterval: 20 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = group.Close() })
		generation, err := group.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return group, generation
	}
	group, old := join()
	// joins, so there is a new generation
	c := start(t, Config(cfg), newProcess(t, addr), []string{topic}, newLedger().handler)
	if _, err := group.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := newWorker(c.Consumer, old, topic, 0)
	if err := w.commit(t.Context(), t.Context(), 5, formatPlan(9)); !errors.Is(err, errRefused) {
		t.Errorf("the commit of generation %d gave %v", old.ID, err)
	}
}

func TestRefusedPlanIsNotHandled(t *testing.T) {
	cluster := startBroker(t)
	p := newProcess(t, cluster.ListenAddrs()[0])
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, numbered("v", 5)...)
	cfg := testConfig(t)
	done := newLedger()
	var refused atomic.Int32
	cluster.ControlKey(int16(kmsg.OffsetCommit), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if refused.Add(1) > 3 {
			return nil, nil, false
		}
		if n := done.records(); n != 0 {
			t.Errorf("%d records were handled before their plan was stored", n)
		}
		commit := request.(*kmsg.OffsetCommitRequest)
		res := commit.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, topic := range commit.Topics {
			rt := kmsg.NewOffsetCommitResponseTopic()
			rt.Topic = topic.Topic
			for _, p := range topic.Partitions {
				rp := kmsg.NewOffsetCommitResponseTopicPartition()
				rp.Partition, rp.ErrorCode = p.Partition, kerr.IllegalGeneration.Code
				rt.Partitions = append(rt.Partitions, rp)
			}
			res.Topics = append(res.Topics, rt)
		}
		return res, nil, true
	})
	r := start(t, cfg, p, []string{topic}, done.handler)
	done.await(t, 5)
	if n := refused.Load(); n <= 3 {
		t.Errorf("handled after %d commits", n)
	}
	if n := r.metric(t, "commit_errors_total"); n != 3 {
		t.Errorf("commit_errors_total is %v", n)
	}
	done.checkPartition(t, 0, 0, 4)
}

func TestBrokerRestart(t *testing.T) {
	dir := t.TempDir()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	addr := cluster.ListenAddrs()[0]
	p := newProcess(t, addr)
	topic := createTopic(t, p.client, 2)
	produce(t, p.client, topic, 0, numbered("v", 10)...)
	cfg := testConfig(t)
	done := newLedger()
	start(t, cfg, p, []string{topic}, done.handler)
	done.await(t, 10)

	cluster.Close()
	var port int
	if _, err := fmt.Sscanf(addr, "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	startBroker(t, kfake.DataDir(dir), kfake.Ports(port))
	admin := newProcess(t, addr)
	produce(t, admin.client, topic, 0, numbered("w", 10)...)
	produce(t, admin.client, topic, 1, numbered("w", 10)...)
	done.await(t, 30)
	done.checkPartition(t, 0, 0, 19)
	done.checkPartition(t, 1, 0, 9)
}

func TestNewPartitionsAreConsumed(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 1)
	done := newLedger()
	start(t, testConfig(t), p, []string{topic}, done.handler)
	produce(t, p.client, topic, 0, "v")
	done.await(t, 1)
	res, err := p.client.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: 3}},
	})
	if err == nil {
		err = res.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the client knows the partition", func() bool {
		res, err := p.client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: topic, Partition: 2, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte("w"))}),
		})
		return err == nil && res.Error == nil
	})
	done.await(t, 2)
	done.checkPartition(t, 2, 0, 0)
}

// A client asks for its metadata now and then. A member that goes by what it was told last learns of a partition later
// than the leader, and has all of the group join again.
func TestNewPartitionsAreNoticedPastTheClientsCache(t *testing.T) {
	addr := anyBroker(t)
	admin := newProcess(t, addr)
	topic := createTopic(t, admin.client, 1)
	p := newProcess(t, addr)
	p.client.Transport.(*kafka.Transport).MetadataTTL = time.Hour
	dealt := make(chan int, 100)
	start(t, testConfig(t), p, []string{topic}, func(_ string, partition int) Handler {
		dealt <- partition
		return newLedger()
	})
	await := func(want int) {
		t.Helper()
		for deadline := time.After(20 * time.Second); ; {
			select {
			case partition := <-dealt:
				if partition == want {
					return
				}
			case <-deadline:
				t.Fatalf("partition %d is not dealt", want)
			}
		}
	}
	await(0)
	res, err := admin.client.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: 2}},
	})
	if err == nil {
		err = res.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	await(1)
}

func TestEmptyPartitionsAndMoreMembersThanPartitions(t *testing.T) {
	addr := anyBroker(t)
	admin := newProcess(t, addr)
	topic := createTopic(t, admin.client, 4)
	produce(t, admin.client, topic, 3, "only")
	cfg := testConfig(t)
	done := newLedger()
	var members []*running
	for range 6 {
		members = append(members, start(t, cfg, newProcess(t, addr), []string{topic}, done.handler))
	}
	done.await(t, 1)
	for _, m := range members {
		m.stop()
	}
	for _, m := range members {
		if err := m.wait(t); err != nil {
			t.Error(err)
		}
	}
	done.checkPartition(t, 3, 0, 0)
	if len(done.ranges) != 1 {
		t.Errorf("handled %v", done.ranges)
	}
}
