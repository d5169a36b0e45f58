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

// Severity says how bad a finding is.
type Severity string

// The severities. With an error the pipeline does not work or may lose data; with a warning it works, but not as the
// configuration says.
const (
	OK      Severity = "ok"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Finding is one thing that Check has looked at. Detail is a sentence for people.
type Finding struct {
	Severity Severity
	Subject  string // "broker host:port" or "topic name"
	Detail   string
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
	existing, err := existingTopics(ctx, client, c)
	if err != nil {
		return findings, fmt.Errorf("list topics: %w", err)
	}
	settings, err := topicSettings(ctx, client, existing)
	if err != nil {
		findings = append(findings, Finding{Warning, "topics", "Their settings could not be read: " + err.Error() + "."})
	}
	for _, t := range c.topics() {
		topic, ok := existing[t.name]
		if !ok {
			findings = append(findings, Finding{Error, "topic " + t.name, "It does not exist; motorpool migrate creates it."})
			continue
		}
		findings = append(findings, c.checkTopic(t, topic, settings[t.name])...)
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
	subject := "broker " + broker
	conn, err := dialer.DialContext(ctx, "tcp", broker)
	if err != nil {
		return Finding{Error, subject, "It does not answer: " + err.Error() + "."}, err
	}
	defer conn.Close()
	deadline := time.Now().Add(dialTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return Finding{Error, subject, "It does not answer: " + err.Error() + "."}, err
	}
	versions, err := conn.ApiVersions()
	if err != nil {
		return Finding{Error, subject, "It does not tell its versions: " + err.Error() + "."}, err
	}
	var lacks []string
	for _, key := range needed {
		i := slices.IndexFunc(versions, func(v kafka.ApiVersion) bool { return v.ApiKey == int16(key) })
		if i < 0 || versions[i].MaxVersion < key.MinVersion() || versions[i].MinVersion > key.MaxVersion() {
			lacks = append(lacks, key.String())
		}
	}
	i := slices.IndexFunc(versions, func(v kafka.ApiVersion) bool { return v.ApiKey == int16(protocol.Fetch) })
	if i >= 0 && versions[i].MaxVersion < 4 {
		lacks = append(lacks, "Fetch 4 (Kafka 0.11)")
	}
	if len(lacks) > 0 {
		return Finding{Error, subject, "It does not speak our version of: " + strings.Join(lacks, ", ") + "."}, nil
	}
	return Finding{OK, subject, "It answers."}, nil
}

// topicSettings reads the settings of topics, by topic and name.
func topicSettings(ctx context.Context, client *kafka.Client, topics map[string]kafka.Topic) (map[string]map[string]string, error) {
	if len(topics) == 0 {
		return nil, nil
	}
	request := &kafka.DescribeConfigsRequest{}
	for name := range topics {
		request.Resources = append(request.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: name,
			ConfigNames: []string{settingTimestamp, settingRetention, settingCleanup, settingMaxBytes},
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

// checkTopic compares one topic. Settings that could not be read are not judged.
func (c Config) checkTopic(t wanted, topic kafka.Topic, settings map[string]string) []Finding {
	subject := "topic " + t.name
	var findings []Finding
	found := func(severity Severity, format string, args ...any) {
		findings = append(findings, Finding{severity, subject, fmt.Sprintf(format, args...)})
	}
	partitions := len(topic.Partitions)
	switch {
	case partitions < c.Partitions:
		found(Warning, "It has %d partitions instead of %d, which bounds how many processes share the work.", partitions, c.Partitions)
	case partitions > c.Partitions:
		found(Warning, "It has %d partitions instead of %d.", partitions, c.Partitions)
	}
	leaderless, lagging, copies := 0, 0, 0
	for _, p := range topic.Partitions {
		if p.Error != nil || p.Leader.Host == "" {
			leaderless++
		}
		if len(p.Isr) < len(p.Replicas) {
			lagging++
		}
		if copies == 0 || len(p.Replicas) < copies {
			copies = len(p.Replicas)
		}
	}
	if leaderless > 0 {
		found(Error, "%d of its partitions have no leader.", leaderless)
	}
	if lagging > 0 {
		found(Warning, "%d of its partitions have replicas that are behind.", lagging)
	}
	if copies < c.Replication {
		found(Warning, "It is kept on %d brokers instead of %d.", copies, c.Replication)
	}
	if policy := settings[settingCleanup]; strings.Contains(policy, "compact") {
		found(Error, "Its cleanup.policy is %s: compaction removes fixes. Set it to delete.", policy)
	}
	if kind, ok := settings[settingTimestamp]; ok && t.ingest && kind != appendTime {
		found(Warning, "Its message.timestamp.type is %s: received times are what producers say. Set it to %s.", kind, appendTime)
	}
	if ms, err := strconv.ParseInt(settings[settingRetention], 10, 64); err == nil && ms >= 0 {
		if kept := time.Duration(ms) * time.Millisecond; c.Retention < 0 || kept < c.Retention {
			found(Warning, "It keeps records for %s instead of %s: the pipeline must not stand still for longer.", kept, forever(c.Retention))
		}
	}
	if n, err := strconv.Atoi(settings[settingMaxBytes]); err == nil && n < c.MaxMessageBytes {
		found(Warning, "Its max.message.bytes is %d instead of %d: large records are refused.", n, c.MaxMessageBytes)
	}
	if len(findings) == 0 {
		found(OK, "It has %d partitions.", partitions)
	}
	return findings
}

func forever(d time.Duration) string {
	if d < 0 {
		return "for ever"
	}
	return d.String()
}
