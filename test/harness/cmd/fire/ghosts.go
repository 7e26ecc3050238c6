package main

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// silence is how long a member of a consumer group may be silent before evictGhosts removes it. It is longer than the session
// timeout of all members.
const silence = 30 * time.Second

// evictGhosts removes members of consumer groups that are silent, until ctx ends. A broker must do that by itself, but kfake
// starts no session timer for a member whose connection broke while it joined. Such a ghost would keep its partitions
// forever.
func evictGhosts(ctx context.Context, c *kfake.Cluster, silence time.Duration) error {
	var mu sync.Mutex
	heard := map[string]time.Time{} // by member
	hear := func(member string) {
		mu.Lock()
		defer mu.Unlock()
		heard[member] = time.Now()
	}
	for _, key := range []kmsg.Key{kmsg.Heartbeat, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetCommit} {
		c.ControlKey(int16(key), func(r kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			switch r := r.(type) {
			case *kmsg.HeartbeatRequest:
				hear(r.MemberID)
			case *kmsg.JoinGroupRequest:
				hear(r.MemberID)
			case *kmsg.SyncGroupRequest:
				hear(r.MemberID)
			case *kmsg.OffsetCommitRequest:
				hear(r.MemberID)
			}
			return nil, nil, false
		})
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		return err
	}
	defer client.Close()
	tick := time.NewTicker(silence / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		round, cancel := context.WithTimeout(ctx, silence)
		for group, members := range membersOf(round, client) {
			for _, member := range members {
				mu.Lock()
				at, known := heard[member]
				if !known {
					at = time.Now()
					heard[member] = at
				}
				mu.Unlock()
				if time.Since(at) > silence {
					evict(round, client, group, member)
				}
			}
		}
		cancel()
	}
}

// membersOf returns the members of all groups. Errors are ignored, because the next round tries again.
func membersOf(ctx context.Context, client *kgo.Client) map[string][]string {
	out := map[string][]string{}
	groups, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, client)
	if err != nil {
		return nil
	}
	ask := kmsg.NewPtrDescribeGroupsRequest()
	for _, g := range groups.Groups {
		ask.Groups = append(ask.Groups, g.Group)
	}
	found, err := ask.RequestWith(ctx, client)
	if err != nil {
		return nil
	}
	for _, g := range found.Groups {
		for _, m := range g.Members {
			out[g.Group] = append(out[g.Group], m.MemberID)
		}
	}
	return out
}

func evict(ctx context.Context, client *kgo.Client, group, member string) {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group, r.MemberID = group, member
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = member
	r.Members = append(r.Members, m)
	_, _ = r.RequestWith(ctx, client)
}
