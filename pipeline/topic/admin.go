package topic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// settings returns what a topic is made with, and what Check compares with.
func (c Config) settings(name string) map[string]string {
	settings := map[string]string{
		"retention.ms":      strconv.FormatInt(c.Retention.Milliseconds(), 10),
		"max.message.bytes": strconv.Itoa(MaxMessageBytes),
	}
	if name != c.DeadLetters {
		// The received time of a fix is the broker's, whatever clock the producer has.
		settings["message.timestamp.type"] = "LogAppendTime"
	}
	return settings
}

// Ensure makes the topics that are missing and returns their names. Topics that are there stay as they are. It may be
// run by several processes at once.
func Ensure(ctx context.Context, c Config) (created []string, err error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	defer closeIdle(client)
	replication := c.Replication
	if replication == 0 {
		replication = -1
	}
	request := &kafka.CreateTopicsRequest{}
	for _, name := range c.Names() {
		topic := kafka.TopicConfig{Topic: name, NumPartitions: c.Partitions, ReplicationFactor: replication}
		for key, value := range c.settings(name) {
			topic.ConfigEntries = append(topic.ConfigEntries, kafka.ConfigEntry{ConfigName: key, ConfigValue: value})
		}
		request.Topics = append(request.Topics, topic)
	}
	response, err := client.CreateTopics(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("make topics on %s: %w", client.Addr, err)
	}
	var errs []error
	for _, name := range c.Names() {
		switch err := response.Errors[name]; {
		case err == nil:
			created = append(created, name)
		case !errors.Is(err, kafka.TopicAlreadyExists):
			errs = append(errs, fmt.Errorf("make topic %s: %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return created, err
	}
	return created, awaitLeaders(ctx, client, c)
}

// awaitLeaders returns when each partition of each topic has a leader, which takes a moment after a topic was made.
func awaitLeaders(ctx context.Context, client *kafka.Client, c Config) error {
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		metadata, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: c.Names()})
		if err == nil {
			if err = leaders(metadata.Topics); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the topics: %w", errors.Join(err, ctx.Err()))
		case <-retry.C:
		}
	}
}

func leaders(topics []kafka.Topic) error {
	for _, topic := range topics {
		if topic.Error != nil {
			return fmt.Errorf("topic %s: %w", topic.Name, topic.Error)
		}
		if len(topic.Partitions) == 0 {
			return fmt.Errorf("topic %s has no partitions yet", topic.Name)
		}
		for _, partition := range topic.Partitions {
			if partition.Error != nil {
				return fmt.Errorf("topic %s, partition %d: %w", topic.Name, partition.ID, partition.Error)
			}
		}
	}
	return nil
}

// Finding is one thing that Check looked at.
type Finding struct {
	What   string // "topic positions"
	OK     bool
	Detail string // what was seen
	Advice string // what to do, if it is not OK
}

// Check looks whether brokers answer and the topics are there and set up well. The error says that it could not look;
// everything else is a finding.
func Check(ctx context.Context, c Config) ([]Finding, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	defer closeIdle(client)
	metadata, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: c.Names()})
	if err != nil {
		return nil, fmt.Errorf("ask %s for its topics: %w", client.Addr, err)
	}
	var brokers []string
	for _, broker := range metadata.Brokers {
		brokers = append(brokers, fmt.Sprintf("%s:%d", broker.Host, broker.Port))
	}
	findings := []Finding{{What: "kafka", OK: true, Detail: strings.Join(brokers, ", ") + " answer"}}
	settings, err := describe(ctx, client, c.Names())
	if err != nil {
		findings = append(findings, Finding{
			What: "topic settings", Detail: err.Error(), Advice: "allow the user to describe the configuration of topics, to have it checked",
		})
	}
	for _, topic := range metadata.Topics {
		findings = append(findings, c.examine(topic, settings[topic.Name]))
	}
	return findings, nil
}

// examine judges one topic; settings is nil if they could not be read.
func (c Config) examine(topic kafka.Topic, settings map[string]string) Finding {
	f := Finding{What: "topic " + topic.Name}
	if topic.Error != nil || len(topic.Partitions) == 0 {
		f.Detail, f.Advice = "is not there", "run 'motorpool migrate'"
		if topic.Error != nil && !errors.Is(topic.Error, kafka.UnknownTopicOrPartition) {
			f.Detail, f.Advice = topic.Error.Error(), "allow the user to describe, read and write the topic"
		}
		return f
	}
	copies := len(topic.Partitions[0].Replicas)
	f.Detail = fmt.Sprintf("%d partitions, %d copies", len(topic.Partitions), copies)
	var advice []string
	for _, partition := range topic.Partitions {
		if partition.Error != nil {
			advice = append(advice, fmt.Sprintf("partition %d has no leader (%v): look at the brokers", partition.ID, partition.Error))
		}
		if len(partition.Isr) < len(partition.Replicas) {
			advice = append(advice, fmt.Sprintf("partition %d has %d of %d copies in sync: look at the brokers", partition.ID, len(partition.Isr), len(partition.Replicas)))
		}
	}
	if c.Replication > copies {
		advice = append(advice, fmt.Sprintf("%d copies are asked for: reassign the partitions", c.Replication))
	}
	if settings != nil {
		f.Detail += ", retention " + retention(settings["retention.ms"])
		if kept, err := strconv.ParseInt(settings["retention.ms"], 10, 64); err == nil && kept >= 0 && kept < (24*time.Hour).Milliseconds() {
			advice = append(advice, "records are kept for less than a day, and a pipeline that stands still longer loses them: raise retention.ms")
		}
		if size, err := strconv.Atoi(settings["max.message.bytes"]); err == nil && size < MaxMessageBytes {
			advice = append(advice, fmt.Sprintf("records above %d bytes are refused: set max.message.bytes to %d", size, MaxMessageBytes))
		}
		if want := c.settings(topic.Name)["message.timestamp.type"]; want != "" && settings["message.timestamp.type"] != want {
			advice = append(advice, "a producer with a wrong clock makes wrong received times: set message.timestamp.type to "+want)
		}
		if strings.Contains(settings["cleanup.policy"], "compact") {
			advice = append(advice, "compaction throws fixes away: set cleanup.policy to delete")
		}
	}
	f.OK, f.Advice = len(advice) == 0, strings.Join(advice, "; ")
	return f
}

func retention(ms string) string {
	n, err := strconv.ParseInt(ms, 10, 64)
	switch {
	case err != nil:
		return "of the broker's default"
	case n < 0:
		return "for ever"
	}
	return (time.Duration(n) * time.Millisecond).String()
}

// describe returns the settings of topics by topic and name.
func describe(ctx context.Context, client *kafka.Client, names []string) (map[string]map[string]string, error) {
	request := &kafka.DescribeConfigsRequest{}
	for _, name := range names {
		request.Resources = append(request.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: name,
			ConfigNames: []string{"retention.ms", "max.message.bytes", "message.timestamp.type", "cleanup.policy"},
		})
	}
	response, err := client.DescribeConfigs(ctx, request)
	if err != nil {
		return nil, err
	}
	settings := make(map[string]map[string]string)
	for _, resource := range response.Resources {
		if resource.Error != nil {
			continue // of a topic that is not there, which the metadata say better
		}
		entries := make(map[string]string)
		for _, entry := range resource.ConfigEntries {
			entries[entry.ConfigName] = entry.ConfigValue
		}
		settings[resource.ResourceName] = entries
	}
	return settings, nil
}
