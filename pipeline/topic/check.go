package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// Finding is one thing that Check has looked at.
type Finding struct {
	What   string // "broker host:port" or "topic name"
	OK     bool
	Detail string // what was seen
	Advice string // what to do if it is not OK
}

// Ping returns nil if a broker answers.
func Ping(ctx context.Context, c Config) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	defer Disconnect(client)
	if _, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{c.Positions}}); err != nil {
		return fmt.Errorf("no Kafka broker answers: %w", err)
	}
	return nil
}

// Check examines brokers and topics against the configuration: whether brokers answer and speak the needed versions of
// the protocol, and whether topics exist with the right partitions, replicas, retention, timestamps and sizes. It
// changes nothing. The error is that no broker answers; then there are findings about the brokers alone.
func Check(ctx context.Context, c Config) ([]Finding, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	defer Disconnect(client)
	dialer, err := c.Dialer()
	if err != nil {
		return nil, err
	}
	var findings []Finding
	var unreachable []error
	for _, broker := range c.Brokers {
		f, err := checkBroker(ctx, dialer, broker)
		findings = append(findings, f)
		if err != nil {
			unreachable = append(unreachable, err)
		}
	}
	if len(unreachable) == len(c.Brokers) {
		return findings, fmt.Errorf("no Kafka broker answers: %w", errors.Join(unreachable...))
	}
	existing, brokers, err := existingTopics(ctx, client, c)
	if err != nil {
		return findings, fmt.Errorf("list topics: %w", err)
	}
	settings, err := topicSettings(ctx, client, existing)
	if err != nil {
		findings = append(findings, Finding{
			What: "topic settings", Detail: "cannot be read: " + err.Error(),
			Advice: "allow the user to describe the configuration of topics",
		})
	}
	for _, t := range c.topics() {
		topic, ok := existing[t.name]
		if !ok {
			findings = append(findings,
				Finding{What: "topic " + t.name, Detail: "does not exist", Advice: "run 'motorpool migrate'"})
			continue
		}
		findings = append(findings, c.checkTopic(t, topic, brokers, settings[t.name]))
	}
	return findings, nil
}

// needed are the requests that the pipeline sends to brokers.
var needed = []protocol.ApiKey{
	protocol.Produce, protocol.Fetch, protocol.ListOffsets, protocol.Metadata, protocol.OffsetCommit, protocol.OffsetFetch,
	protocol.FindCoordinator, protocol.JoinGroup, protocol.Heartbeat, protocol.LeaveGroup, protocol.SyncGroup,
}

// checkBroker asks one broker for its versions. The error is that it does not answer.
func checkBroker(ctx context.Context, dialer *kafka.Dialer, broker string) (Finding, error) {
	f := Finding{What: "broker " + broker}
	versions, err := apiVersions(ctx, dialer, broker)
	if err != nil {
		f.Detail, f.Advice = "does not answer: "+err.Error(), "start it, or correct its address and the TLS and SASL settings"
		return f, err
	}
	var lacks []string
	for _, key := range needed {
		i := slices.IndexFunc(versions, func(v kafka.ApiVersion) bool { return v.ApiKey == int16(key) })
		if i < 0 || versions[i].MaxVersion < key.MinVersion() || versions[i].MinVersion > key.MaxVersion() ||
			key == protocol.Fetch && versions[i].MaxVersion < leastFetch {
			lacks = append(lacks, key.String())
		}
	}
	if len(lacks) > 0 {
		f.Detail, f.Advice = "does not speak our versions of "+strings.Join(lacks, ", "), "use Kafka 1.0 or newer"
		return f, nil
	}
	f.OK, f.Detail = true, "answers"
	return f, nil
}

// leastFetch is the version of Fetch from which on records come in the only format that pipeline/consume reads.
const leastFetch = 4

func apiVersions(ctx context.Context, dialer *kafka.Dialer, broker string) ([]kafka.ApiVersion, error) {
	conn, err := dialer.DialContext(ctx, "tcp", broker)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	deadline := time.Now().Add(dialTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	return conn.ApiVersions()
}

// topicSettings reads the settings of topics, by topic and name.
func topicSettings(ctx context.Context, client *kafka.Client,
	topics map[string]kafka.Topic) (map[string]map[string]string, error) {
	if len(topics) == 0 {
		return nil, nil
	}
	request := &kafka.DescribeConfigsRequest{}
	for name := range topics {
		request.Resources = append(request.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: name,
			ConfigNames: []string{settingTimestamp, settingRetention, settingCleanup, settingMaxBytes, settingLeastSync},
		})
	}
	res, err := client.DescribeConfigs(ctx, request)
	if err != nil {
		return nil, err
	}
	settings := make(map[string]map[string]string, len(topics))
	for _, r := range res.Resources {
		if r.Error != nil {
			return nil, fmt.Errorf("topic %s: %w", r.ResourceName, r.Error)
		}
		of := make(map[string]string, len(r.ConfigEntries))
		for _, entry := range r.ConfigEntries {
			of[entry.ConfigName] = entry.ConfigValue
		}
		settings[r.ResourceName] = of
	}
	return settings, nil
}

// checkTopic compares one topic. Another number of partitions is told and not judged, since it cannot well be changed;
// settings that could not be read are not judged either.
func (c Config) checkTopic(t wanted, topic kafka.Topic, brokers int, settings map[string]string) Finding {
	leaderless, lagging, copies := 0, 0, 0
	for _, p := range topic.Partitions {
		if p.Error != nil {
			leaderless++
		}
		if len(p.Isr) < len(p.Replicas) {
			lagging++
		}
		if copies == 0 || len(p.Replicas) < copies {
			copies = len(p.Replicas)
		}
	}
	f := Finding{What: "topic " + t.name, Detail: fmt.Sprintf("%d partitions, %d copies", len(topic.Partitions), copies)}
	if want := c.partitions(t); len(topic.Partitions) != want {
		f.Detail = fmt.Sprintf("%d partitions instead of %d, %d copies", len(topic.Partitions), want, copies)
	}
	var advice []string
	advise := func(wrong bool, format string, args ...any) {
		if wrong {
			advice = append(advice, fmt.Sprintf(format, args...))
		}
	}
	advise(leaderless > 0, "%d partitions have no leader: look at the brokers", leaderless)
	advise(lagging > 0, "%d partitions have copies that are behind: look at the brokers", lagging)
	advise(copies < c.Replication, "%d copies are configured: reassign the partitions", c.Replication)
	advise(c.Replication == 0 && copies == 1 && brokers > 1,
		"what is acknowledged is lost with one of %d brokers: reassign the partitions to three, or say --kafka-replication 1 if that is meant", brokers)
	if least, err := strconv.Atoi(settings[settingLeastSync]); err == nil {
		want := leastSync(copies)
		f.Detail += ", " + acknowledged(copies, least)
		advise(least < want, "what one broker has alone is acknowledged and lost with it: set %s to %d",
			settingLeastSync, want)
		advise(least > copies, "nothing can be acknowledged: set %s to %d", settingLeastSync, want)
	}
	policy := settings[settingCleanup]
	advise(strings.Contains(policy, "compact"), "compaction removes fixes: set %s to delete", settingCleanup)
	kind, known := settings[settingTimestamp]
	advise(known && t.ingest && kind != appendTime, "a producer's wrong clock makes received times wrong: set %s to %s",
		settingTimestamp, appendTime)
	if ms, err := strconv.ParseInt(settings[settingRetention], 10, 64); err == nil {
		kept := time.Duration(ms) * time.Millisecond
		f.Detail += ", keeps records " + span(kept)
		advise(ms >= 0 && (c.Retention < 0 || kept < c.Retention),
			"what the pipeline has not read by then is lost: set %s for %s", settingRetention, span(c.Retention))
	}
	if n, err := strconv.Atoi(settings[settingMaxBytes]); err == nil {
		advise(n < c.MaxMessageBytes, "records above %d bytes are refused: set %s to %d", n, settingMaxBytes,
			c.MaxMessageBytes)
	}
	f.OK, f.Advice = len(advice) == 0, strings.Join(advice, "; ")
	return f
}

// acknowledged says what it means that a record was.
func acknowledged(copies, least int) string {
	switch least = min(least, copies); {
	case copies <= 1:
		return "an acknowledged record is on one broker alone"
	case least == copies:
		return fmt.Sprintf("an acknowledged record is on %d brokers, and while one of them is away none is taken", least)
	}
	return fmt.Sprintf("an acknowledged record is on %d brokers or more", least)
}

func span(d time.Duration) string {
	if d < 0 {
		return "for ever"
	}
	return d.String()
}
