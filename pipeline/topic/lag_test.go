package topic

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestLagIsWhatAGroupHasNotCommitted(t *testing.T) {
	c := ensured(t, embeddedtest.Broker(t))
	feed := openFeed(t, c)
	var messages []Message
	for i := range 40 {
		messages = append(messages, Message{Key: fmt.Appendf(nil, "%d", i), Value: []byte("{}")})
	}
	for _, topic := range []string{c.Positions, c.Telemetry} {
		if err := feed.PublishRaw(t.Context(), topic, messages); err != nil {
			t.Fatal(err)
		}
	}
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer Disconnect(client)
	group := "group-of-" + c.Positions
	expect := func(want int64) {
		t.Helper()
		if lag, err := Lag(t.Context(), client, group, c.Positions, c.Telemetry); err != nil || lag != want {
			t.Fatalf("lag %d, %v, instead of %d", lag, err, want)
		}
	}
	expect(80)
	backlog := NewBacklog(client, group, c.Positions)
	before := time.Now()
	if done, err := backlog.Done(t.Context()); err != nil || !done.IsZero() {
		t.Fatalf("nothing is committed, and done up to %v, %v", done, err)
	}
	ends, err := client.ListOffsets(t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		c.Positions: {kafka.LastOffsetOf(0), kafka.LastOffsetOf(1), kafka.LastOffsetOf(2)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var commits []kafka.OffsetCommit
	for _, p := range ends.Topics[c.Positions] {
		commits = append(commits, kafka.OffsetCommit{Partition: p.Partition, Offset: p.LastOffset})
	}
	if _, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
		GroupID: group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{c.Positions: commits},
	}); err != nil {
		t.Fatal(err)
	}
	expect(40)
	stuck := slices.Clone(commits)
	stuck[1].Offset--
	one := NewBacklog(client, group+"-stuck", c.Positions)
	for range 2 {
		one.asked = time.Time{}
		if _, err := one.Done(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: group + "-stuck", GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{c.Positions: stuck},
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("[%s/%d]", c.Positions, stuck[1].Partition)
	if behind, err := one.Behind(t.Context(), time.Minute); err != nil || fmt.Sprint(behind) != want {
		t.Fatalf("behind are %v, %v, instead of %s", behind, err, want)
	}
	backlog.asked = time.Time{}
	if done, err := backlog.Done(t.Context()); err != nil || done.Before(before) {
		t.Fatalf("all is committed, and done up to %v, %v", done, err)
	}
	if err := feed.PublishRaw(t.Context(), c.Positions, messages); err != nil {
		t.Fatal(err)
	}
	backlog.asked = time.Time{}
	now := time.Now()
	if done, err := backlog.Done(t.Context()); err != nil || done.Before(before) || done.After(now) {
		t.Fatalf("more has come since, and done up to %v, %v", done, err)
	}
}

// TestLagWaitsForTheCoordinatorOfItsGroup has a broker say for a while that it does not know who keeps the commits of a
// group, as Apache Kafka does while its first group comes.
func TestLagWaitsForTheCoordinatorOfItsGroup(t *testing.T) {
	addr, broker := embeddedtest.FakeBroker(t)
	c := ensured(t, addr)
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer Disconnect(client)
	refuse := func(times int, refusal kafka.Error) {
		t.Helper()
		broker.ControlKey(kmsg.OffsetFetch.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
			if times == 0 {
				return nil, nil, false
			}
			times--
			broker.KeepControl()
			answer := req.ResponseKind().(*kmsg.OffsetFetchResponse)
			answer.ErrorCode = int16(refusal)
			return answer, nil, true
		})
	}
	for _, refusal := range []kafka.Error{
		kafka.NotCoordinatorForGroup, kafka.GroupCoordinatorNotAvailable, kafka.GroupLoadInProgress,
	} {
		refuse(2, refusal)
		if lag, err := Lag(t.Context(), client, "new", c.Positions); err != nil || lag != 0 {
			t.Errorf("after %v: lag %d, %v", refusal, lag, err)
		}
	}
	refuse(1, kafka.GroupAuthorizationFailed)
	if _, err := Lag(t.Context(), client, "new", c.Positions); !errors.Is(err, kafka.GroupAuthorizationFailed) {
		t.Errorf("a group that may not be read: %v", err)
	}
}
