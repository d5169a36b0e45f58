package embedded

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// members is what the broker hears of the members of its consumer groups. A member whose connection breaks while it waits
// for others to join is never given up by the broker itself: it is dealt partitions that nobody reads then. So whoever is
// silent for longer than its group allows is made to leave.
type members struct {
	mu     sync.Mutex
	groups map[string]*memberGroup
}

type memberGroup struct {
	allowed time.Duration        // the longest silence that a member has asked for
	changed time.Time            // when one last joined or took its share
	heard   map[string]time.Time // members by their newest heartbeat
}

// silenceEvery is how often silent members are looked for. It is also the grace above what their group allows, in which
// the broker gives up by itself those whose connection did not break so.
const silenceEvery = 2 * time.Second

// observe notes what a request says about a group. It leaves the request to the broker.
func (m *members) observe(request kmsg.Request) (kmsg.Response, error, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r := request.(type) {
	case *kmsg.JoinGroupRequest:
		g := m.groups[r.Group]
		if g == nil {
			g = &memberGroup{heard: make(map[string]time.Time)}
			m.groups[r.Group] = g
		}
		g.changed = time.Now()
		g.allowed = max(g.allowed, time.Duration(r.SessionTimeoutMillis)*time.Millisecond)
	case *kmsg.SyncGroupRequest:
		if g := m.groups[r.Group]; g != nil {
			g.changed = time.Now()
		}
	case *kmsg.HeartbeatRequest:
		if g := m.groups[r.Group]; g != nil {
			g.heard[r.MemberID] = time.Now()
		}
	}
	return nil, nil, false
}

// silent returns those of a group's present members that have been silent for too long, and forgets all others that it has
// heard of.
func (m *members) silent(group string, present []string, now time.Time) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[group]
	for id := range g.heard {
		if !slices.Contains(present, id) {
			delete(g.heard, id)
		}
	}
	return slices.DeleteFunc(slices.Clone(present), func(id string) bool {
		last := g.changed
		if heard := g.heard[id]; heard.After(last) {
			last = heard
		}
		return now.Sub(last) <= g.allowed+silenceEvery
	})
}

func (m *members) groupNames() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([]string, 0, len(m.groups))
	for name := range m.groups {
		names = append(names, name)
	}
	return names
}

// watchMembers makes members leave that are silent, until ctx ends.
func (b *Broker) watchMembers(ctx context.Context) {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addr))
	if err != nil { // the options are sound
		b.config.Logger.Error("broker: watch members: " + err.Error())
		return
	}
	defer client.Close()
	tick := time.NewTicker(silenceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := b.dismissSilent(ctx, client); err != nil && ctx.Err() == nil {
			b.config.Logger.Warn("broker: look for silent members: " + err.Error())
		}
	}
}

// dismissSilent makes the silent members of groups leave that are at work: in others, who waits for a join is silent too.
func (b *Broker) dismissSilent(ctx context.Context, client *kgo.Client) error {
	describe := kmsg.NewPtrDescribeGroupsRequest()
	if describe.Groups = b.members.groupNames(); len(describe.Groups) == 0 {
		return nil
	}
	described, err := describe.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("describe groups: %w", err)
	}
	now := time.Now()
	for _, group := range described.Groups {
		if group.State != "Stable" {
			continue
		}
		var present []string
		for _, member := range group.Members {
			present = append(present, member.MemberID)
		}
		for _, id := range b.members.silent(group.Group, present, now) {
			b.config.Logger.Warn("broker: a member of a group is silent and leaves", "group", group.Group, "member", id)
			leave := kmsg.NewPtrLeaveGroupRequest()
			leave.Group, leave.MemberID = group.Group, id
			leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: id}}
			if _, err := leave.RequestWith(ctx, client); err != nil {
				return fmt.Errorf("leave group %s: %w", group.Group, err)
			}
		}
	}
	return nil
}
