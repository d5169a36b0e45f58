package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"
)

// Names of topic settings.
const (
	settingTimestamp = "message.timestamp.type"
	settingRetention = "retention.ms"
	settingCleanup   = "cleanup.policy"
	settingMaxBytes  = "max.message.bytes"
	settingLeastSync = "min.insync.replicas"

	appendTime = "LogAppendTime"
)

// Ensure creates the topics that are missing and returns their names, in order. Topics that exist are left as they are,
// whatever their settings: Check tells the differences. Any number of processes may call it at once.
func Ensure(ctx context.Context, c Config) (created []string, err error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	defer Disconnect(client)
	existing, _, err := existingTopics(ctx, client, c)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var missing []kafka.TopicConfig
	for _, t := range c.topics() {
		if _, ok := existing[t.name]; !ok {
			missing = append(missing, c.newTopic(t))
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	res, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: missing})
	if err != nil {
		return nil, fmt.Errorf("create topics: %w", err)
	}
	var errs []error
	for name, err := range res.Errors {
		switch {
		case err == nil:
			created = append(created, name)
		case !errors.Is(err, kafka.TopicAlreadyExists): // another process was faster
			errs = append(errs, fmt.Errorf("create topic %s: %w", name, err))
		}
	}
	slices.Sort(created)
	return created, errors.Join(errs...)
}

func (c Config) newTopic(t wanted) kafka.TopicConfig {
	retention := int64(-1)
	if c.Retention > 0 {
		retention = c.Retention.Milliseconds()
	}
	topic := kafka.TopicConfig{
		Topic: t.name, NumPartitions: c.partitions(t), ReplicationFactor: c.Replication,
		ConfigEntries: []kafka.ConfigEntry{
			{ConfigName: settingRetention, ConfigValue: strconv.FormatInt(retention, 10)},
			{ConfigName: settingCleanup, ConfigValue: "delete"}, // a batch formed again must have the same records
			{ConfigName: settingMaxBytes, ConfigValue: strconv.Itoa(c.MaxMessageBytes)},
		},
	}
	switch least := leastSync(c.Replication); {
	case c.Replication == 0: // the brokers know both
		topic.ReplicationFactor = -1
	case least > 1:
		topic.ConfigEntries = append(topic.ConfigEntries,
			kafka.ConfigEntry{ConfigName: settingLeastSync, ConfigValue: strconv.Itoa(least)})
	}
	if t.ingest {
		topic.ConfigEntries = append(topic.ConfigEntries,
			kafka.ConfigEntry{ConfigName: settingTimestamp, ConfigValue: appendTime})
	}
	return topic
}

// leastSync is how many brokers must have a record before it is acknowledged, where so many are to have it: two if
// there are as many, so that what was acknowledged outlives the loss of any one of them. Of three copies one may then
// be away; of two none, or nothing is taken until it is back.
func leastSync(copies int) int { return max(1, min(copies, 2)) }

// existingTopics returns those of the configuration's topics that exist, by name, and how many brokers there are.
func existingTopics(ctx context.Context, client *kafka.Client, c Config) (map[string]kafka.Topic, int, error) {
	names := c.Names()
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: names})
	if err != nil {
		return nil, 0, err
	}
	existing := make(map[string]kafka.Topic, len(names))
	for _, t := range cluster.Topics {
		switch {
		case t.Error == nil:
			existing[t.Name] = t
		case !errors.Is(t.Error, kafka.UnknownTopicOrPartition):
			return nil, 0, fmt.Errorf("topic %s: %w", t.Name, t.Error)
		}
	}
	return existing, len(cluster.Brokers), nil
}

// Partitions returns how many partitions a topic has. The error of one that is not there is
// kafka.UnknownTopicOrPartition.
func Partitions(ctx context.Context, client *kafka.Client, name string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
	if err != nil {
		return 0, err
	}
	for _, t := range cluster.Topics {
		if t.Name == name {
			return len(t.Partitions), t.Error
		}
	}
	return 0, kafka.UnknownTopicOrPartition
}
