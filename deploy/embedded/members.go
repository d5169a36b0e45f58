package embedded

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// members has the members of consumer groups timed. The broker starts a member's session timer when it answers the
// member's wish to join, and may forget it if the connection has broken by then: such a member is dealt partitions
// that nobody reads, and stays. So once a group has dealt them each member gets one heartbeat from us, which
// starts its timer.
type members struct {
	mu     sync.Mutex
	dealt  map[string]int32 // groups that may have dealt, and in which generation
	signal chan struct{}    // there are some
}

// observe notes that a member wants its share. It wants no fault of the request.
func (m *members) observe(request kmsg.Request) bool {
	if share, ok := request.(*kmsg.SyncGroupRequest); ok {
		m.mu.Lock()
		m.dealt[share.Group] = max(m.dealt[share.Group], share.Generation)
		m.mu.Unlock()
		select {
		case m.signal <- struct{}{}:
		default:
		}
	}
	return false
}

func (m *members) noted() map[string]int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.dealt)
}

// forget drops a group, unless it has gone on to another generation.
func (m *members) forget(group string, generation int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dealt[group] == generation {
		delete(m.dealt, group)
	}
}

// timeMembers works on what is noted until ctx ends.
func (b *Broker) timeMembers(ctx context.Context) {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addr))
	if err != nil { // the options are sound
		b.config.Logger.Error("broker: time members: " + err.Error())
		return
	}
	defer client.Close()
	again := time.NewTicker(time.Second) // for groups that had not dealt yet
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.members.signal:
		case <-again.C:
		}
		for group, generation := range b.members.noted() {
			done, err := timeGroup(ctx, client, group, generation)
			if err != nil && ctx.Err() == nil {
				b.config.Logger.Warn("broker: time members: "+err.Error(), "group", group)
			}
			if done {
				b.members.forget(group, generation)
			}
		}
	}
}

// timeGroup sends a heartbeat for each member of a group that has dealt, and says whether there is nothing left to do.
// In other groups those who wait to join would be timed, and they are silent for good reason.
func timeGroup(ctx context.Context, client *kgo.Client, group string, generation int32) (done bool, err error) {
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{group}
	described, err := describe.RequestWith(ctx, client)
	if err != nil {
		return false, fmt.Errorf("describe a group: %w", err)
	}
	for _, g := range described.Groups {
		switch g.State {
		case "CompletingRebalance":
			return false, nil
		case "Stable":
			for _, member := range g.Members {
				beat := kmsg.NewPtrHeartbeatRequest()
				beat.Group, beat.Generation, beat.MemberID, beat.InstanceID = group, generation, member.MemberID, member.InstanceID
				if _, err := beat.RequestWith(ctx, client); err != nil {
					return false, fmt.Errorf("heartbeat: %w", err)
				}
			}
		}
	}
	return true, nil
}
