package topic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/codec"
)

// config names topics of its own, so that tests can share a broker.
func config(t testing.TB, brokers ...string) Config {
	c := DefaultConfig()
	c.Brokers, c.Partitions, c.Replication = brokers, 3, 1
	suffix := fmt.Sprintf(".%d.%d", os.Getpid(), time.Now().UnixNano())
	c.Positions, c.Telemetry, c.Traccar, c.DeadLetters = "p"+suffix, "t"+suffix, "tr"+suffix, "d"+suffix
	c.Changes, c.Events, c.Deliveries = "c"+suffix, "e"+suffix, "w"+suffix
	return c
}

// ensured is config with its topics made.
func ensured(t testing.TB, brokers ...string) Config {
	t.Helper()
	c := config(t, brokers...)
	if _, err := Ensure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func openFeed(t testing.TB, c Config) *Feed {
	t.Helper()
	feed, err := NewFeed(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := feed.Close(); err != nil {
			t.Error(err)
		}
	})
	return feed
}

// read returns the first n records of a topic, in no order.
func read(t testing.TB, c Config, topic string, n int) []kafka.Message {
	t.Helper()
	dialer, err := c.Dialer()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: c.Brokers, Dialer: dialer, Topic: topic, GroupID: topic, MaxBytes: 20 << 20, MaxWait: 100 * time.Millisecond,
	})
	defer reader.Close()
	var records []kafka.Message
	for len(records) < n {
		m, err := reader.ReadMessage(ctx)
		if err != nil {
			t.Fatalf("after %d of %d records: %v", len(records), n, err)
		}
		records = append(records, m)
	}
	return records
}

func header(m kafka.Message, key string) string {
	for _, h := range m.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

func TestEnsureMakesWhatIsMissingAndLeavesTheRest(t *testing.T) {
	c := config(t, embeddedtest.Broker(t))
	findings, err := Check(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, f := range findings {
		if !f.OK && strings.Contains(f.Advice, "motorpool migrate") {
			missing++
		}
	}
	if missing != 7 {
		t.Fatalf("%d of 7 topics are missing: %+v", missing, findings)
	}
	if created, err := Ensure(t.Context(), c); err != nil || len(created) != 7 {
		t.Fatalf("made %v, %v", created, err)
	}
	if findings, err = Check(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if !f.OK {
			t.Errorf("%+v", f)
		}
	}
	c.Partitions, c.Retention = 8, 30*24*time.Hour
	if created, err := Ensure(t.Context(), c); err != nil || len(created) != 0 {
		t.Fatalf("the second time made %v, %v", created, err)
	}
	if findings, err = Check(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	differ := 0
	for _, f := range findings {
		if strings.Contains(f.Detail, "3 partitions instead of 8") && !f.OK &&
			strings.Contains(f.Advice, "retention.ms for 720h") {
			differ++
		}
	}
	if differ != 6 { // the topic of events has one partition whatever the others have
		t.Errorf("the differences are not told: %+v", findings)
	}
}

func TestCheckTellsSettingsThatLoseData(t *testing.T) {
	c := config(t, embeddedtest.Broker(t))
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer Disconnect(client)
	if _, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: c.Positions, NumPartitions: 3, ReplicationFactor: 1, ConfigEntries: []kafka.ConfigEntry{
			{ConfigName: settingCleanup, ConfigValue: "compact"}, {ConfigName: settingTimestamp, ConfigValue: "CreateTime"},
			{ConfigName: settingMaxBytes, ConfigValue: "1000"},
		},
	}}}); err != nil {
		t.Fatal(err)
	}
	findings, err := Check(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.What != "topic "+c.Positions {
			continue
		}
		for _, setting := range []string{settingCleanup, settingTimestamp, settingMaxBytes} {
			if f.OK || !strings.Contains(f.Advice, setting) {
				t.Errorf("nothing about %s: %+v", setting, f)
			}
		}
	}
}

func TestAcknowledgedIsOnTwoBrokersWhereThereAreTwo(t *testing.T) {
	addr, _ := embeddedtest.FakeBroker(t, kfake.NumBrokers(3), kfake.DefaultNumPartitions(1))
	for _, test := range []struct {
		replication int
		least       string // that is set by hand; "" for what Ensure made of it
		copies      int    // that are configured when it is looked at
		want        string // in the detail
		advice      string // "" if all is well
	}{
		{3, "", 3, "3 copies, an acknowledged record is on 2 brokers or more", ""},
		{2, "", 2, "2 copies, an acknowledged record is on 2 brokers, and while one of them is away none is taken", ""},
		{1, "", 1, "1 copies, an acknowledged record is on one broker alone", ""},
		{1, "", 0, "an acknowledged record is on one broker alone", "lost with one of 3 brokers"},
		{2, "", 3, "2 copies", "3 copies are configured: reassign"},
		{3, "1", 3, "on 1 brokers or more", "set min.insync.replicas to 2"},
		{2, "3", 2, "on 2 brokers", "nothing can be acknowledged: set min.insync.replicas to 2"},
	} {
		c := config(t, addr)
		c.Replication = test.replication
		if _, err := Ensure(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		client, err := c.Client()
		if err != nil {
			t.Fatal(err)
		}
		defer Disconnect(client)
		if test.least != "" {
			res, err := client.IncrementalAlterConfigs(t.Context(),
				&kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{{
					ResourceType: kafka.ResourceTypeTopic, ResourceName: c.Events,
					Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: "min.insync.replicas", Value: test.least,
						ConfigOperation: kafka.ConfigOperationSet}},
				}}})
			if err != nil || res.Resources[0].Error != nil {
				t.Fatal(err, res)
			}
		}
		c.Replication = test.copies
		findings, err := Check(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		f := findings[len(findings)-1] // of the events
		if !strings.Contains(f.Detail, test.want) || f.OK != (test.advice == "") || !strings.Contains(f.Advice, test.advice) {
			t.Errorf("%d copies, %q set, %d configured: %+v", test.replication, test.least, test.copies, f)
		}
	}
}

func TestBrokersThatDoNotAnswer(t *testing.T) {
	dead := config(t, "127.0.0.1:1")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := Ping(ctx, dead); err == nil {
		t.Error("nobody answered the ping with success")
	}
	if findings, err := Check(ctx, dead); err == nil || len(findings) != 1 || findings[0].OK {
		t.Errorf("%+v, %v", findings, err)
	}
	half := ensured(t, embeddedtest.Broker(t), "127.0.0.1:1")
	if err := Ping(ctx, half); err != nil {
		t.Errorf("one broker of two: %v", err)
	}
	findings, err := Check(ctx, half)
	if err != nil || !findings[0].OK || findings[1].OK {
		t.Errorf("%+v, %v", findings, err)
	}
}

func TestPublishedReportsAreReadBackWithTheirHeaders(t *testing.T) {
	c := ensured(t, embeddedtest.Broker(t))
	feed := openFeed(t, c)
	report := fleet.NewReport()
	report.UniqueID, report.FixTime, report.Positioned, report.Lat, report.Lng =
		"861234000000001", 1_767_225_600_000, true, 48.5, 11.25
	other := report
	other.UniqueID = "861234000000002"
	if err := feed.Publish(t.Context(), c.Positions, []fleet.Report{report, other}, Header{"x", "y"}); err != nil {
		t.Fatal(err)
	}
	if err := feed.PublishRaw(t.Context(), c.Positions, []Message{
		{Key: []byte(report.UniqueID), Value: []byte("raw"), ContentType: codec.ContentTypeArrow, Run: "r1", Released: true},
	}); err != nil {
		t.Fatal(err)
	}
	partition := map[string]int{}
	for _, m := range read(t, c, c.Positions, 3) {
		if before, ok := partition[string(m.Key)]; ok && before != m.Partition {
			t.Errorf("key %s is in partitions %d and %d", m.Key, before, m.Partition)
		}
		partition[string(m.Key)] = m.Partition
		if string(m.Value) == "raw" {
			if header(m, "content-type") != codec.ContentTypeArrow || header(m, "motorpool-run") != "r1" ||
				header(m, "motorpool-released") != "1" {
				t.Errorf("raw message has headers %v", m.Headers)
			}
			continue
		}
		want := report
		want.UniqueID = string(m.Key)
		if !bytes.Equal(m.Value, codec.AppendReport(nil, &want)) || header(m, "content-type") != codec.ContentTypeJSON ||
			header(m, "x") != "y" {
			t.Errorf("%s under %s, %v", m.Value, m.Key, m.Headers)
		}
	}
	if len(partition) != 2 {
		t.Errorf("keys are %v", partition)
	}
}

func TestLargeMessagesAreSentAndTooLargeOnesAreTold(t *testing.T) {
	addr, _ := embeddedtest.FakeBroker(t, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "9000000"}))
	c := config(t, addr)
	c.Compression = "none"
	if _, err := Ensure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	err := openFeed(t, c).PublishRaw(t.Context(), c.Positions, []Message{
		{Value: []byte("small")}, {Value: make([]byte, c.MaxMessageBytes)}, {Value: make([]byte, 5<<20)},
	})
	var publish *PublishError
	if !errors.As(err, &publish) || !errors.Is(err, ErrTooLarge) {
		t.Fatalf("error is %v", err)
	}
	if e := publish.Errors; e[0] != nil || !errors.Is(e[1], ErrTooLarge) || e[2] != nil {
		t.Errorf("errors are %v", e)
	}
	read(t, c, c.Positions, 2)
}

func TestOnePartitionsRefusalIsTheErrorOfItsMessagesOnly(t *testing.T) {
	addr, cluster := embeddedtest.FakeBroker(t)
	c := ensured(t, addr)
	feed := openFeed(t, c)
	refuse(cluster, 1, kerr.RecordListTooLarge, 1<<30)
	messages := make([]Message, 30)
	for i := range messages {
		messages[i] = Message{Key: fmt.Append(nil, "key", i), Value: []byte("v")}
	}
	err := feed.PublishRaw(t.Context(), c.Positions, messages)
	var publish *PublishError
	if !errors.As(err, &publish) || !errors.Is(err, kafka.RecordListTooLarge) {
		t.Fatalf("error is %v", err)
	}
	stored := 0
	for i, err := range publish.Errors {
		partition := kafka.Murmur2Balancer{}.Balance(kafka.Message{Key: messages[i].Key}, 0, 1, 2)
		if (err != nil) != (partition == 1) {
			t.Errorf("message %d in partition %d has error %v", i, partition, err)
		}
		if err == nil {
			stored++
		}
	}
	read(t, c, c.Positions, stored)
}

func TestPublishWaitsForABrokerThatHasTooFewReplicas(t *testing.T) {
	addr, cluster := embeddedtest.FakeBroker(t)
	c := ensured(t, addr)
	feed := openFeed(t, c)
	refuse(cluster, -1, kerr.NotEnoughReplicas, 2)
	if err := feed.PublishRaw(t.Context(), c.Positions, []Message{{Value: []byte("x")}}); err != nil {
		t.Fatalf("after two refusals: %v", err)
	}
	refuse(cluster, -1, kerr.NotEnoughReplicas, 1000)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := feed.PublishRaw(ctx, c.Positions, []Message{{Value: []byte("x")}}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Fatalf("a record that no broker took: %v", err)
	}
}

// refuse makes the broker refuse records, of one partition or (below 0) of all, a number of times.
func refuse(cluster *kfake.Cluster, partition int32, with *kerr.Error, times int) {
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Count: times, Err: with,
		When: func(request kmsg.Request) bool {
			produce, ok := request.(*kmsg.ProduceRequest)
			return ok && (partition < 0 || produce.Topics[0].Partitions[0].Partition == partition)
		}})
}

func TestPartitionIsThatOfJavasProducer(t *testing.T) {
	// Utils.murmur2 of Apache Kafka, from its UtilsTest.
	for key, hash := range map[string]int32{"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"abc": 479470107} {
		partitions := make([]int, 1000)
		for i := range partitions {
			partitions[i] = i
		}
		want := int(hash&0x7fffffff) % len(partitions)
		if got := (kafka.Murmur2Balancer{}).Balance(kafka.Message{Key: []byte(key)}, partitions...); got != want {
			t.Errorf("key %s goes to %d, with Java to %d", key, got, want)
		}
	}
}

func TestSettingsThatCannotWorkAreRefusedWithAReason(t *testing.T) {
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(" secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Config)
		says   string // empty: it is fine
	}{
		"as it comes":            {func(*Config) {}, ""},
		"no Traccar":             {func(c *Config) { c.Traccar = "" }, ""},
		"no broker":              {func(c *Config) { c.Brokers = nil }, "no brokers"},
		"no port":                {func(c *Config) { c.Brokers = []string{"kafka"} }, "host:port"},
		"one topic twice":        {func(c *Config) { c.Telemetry = c.Positions }, "named twice"},
		"topic without a name":   {func(c *Config) { c.DeadLetters = "" }, "not a name"},
		"no retention":           {func(c *Config) { c.Retention = 0 }, "retention"},
		"unknown compression":    {func(c *Config) { c.Compression = "zip" }, "compression"},
		"user without mechanism": {func(c *Config) { c.SASL.User = "me" }, "without a mechanism"},
		"unknown mechanism": {func(c *Config) {
			c.SASL = SASL{Mechanism: "gssapi", User: "me", Password: "secret"}
		}, "scram-sha-512"},
		"no password": {func(c *Config) { c.SASL = SASL{Mechanism: "plain", User: "me"} }, "password"},
		"password of a file": {func(c *Config) {
			c.SASL = SASL{Mechanism: "scram-sha-512", User: "me", PasswordFile: password}
		}, ""},
		"no such password file": {func(c *Config) {
			c.SASL = SASL{Mechanism: "plain", User: "me", PasswordFile: password + "x"}
		}, "password"},
		"TLS files without TLS": {func(c *Config) { c.TLS = TLS{CAFile: password} }, "not enabled"},
		"certificate alone":     {func(c *Config) { c.TLS = TLS{Enabled: true, CertFile: password} }, "come together"},
		"authority without PEM": {func(c *Config) { c.TLS = TLS{Enabled: true, CAFile: password} }, "no certificate"},
	} {
		c := DefaultConfig()
		test.change(&c)
		_, err := c.Client()
		_, dialErr := c.Dialer()
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
		if (err == nil) != (dialErr == nil) {
			t.Errorf("%s: the client says %v and the dialer %v", name, err, dialErr)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password", name)
		}
	}
}
