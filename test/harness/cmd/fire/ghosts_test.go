package main

import (
	"context"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// member is a client that joins the group by itself. Version 3 of the request joins at once, as kafka-go does.
func member(t *testing.T, c *kfake.Cluster) *kgo.Client {
	t.Helper()
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.JoinGroup), 3)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.MaxVersions(versions))
	testkit.Must(t, err)
	t.Cleanup(client.Close)
	return client
}

func join(ctx context.Context, client *kgo.Client, id string) (*kmsg.JoinGroupResponse, error) {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = "ingest", id, "consumer", 60_000, 60_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name = "range"
	r.Protocols = append(r.Protocols, p)
	return r.RequestWith(ctx, client)
}

// A member whose connection broke while it joined leaves the group, and one that is heard stays.
func TestEvictGhosts(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(time.Second))
	testkit.Must(t, err)
	defer c.Close()
	alive, dead := member(t, c), member(t, c)
	lead := func(id string) string {
		t.Helper()
		joined, err := join(t.Context(), alive, id)
		if err != nil || joined.ErrorCode != 0 {
			t.Fatalf("join: %+v, %v", joined, err)
		}
		sync := kmsg.NewPtrSyncGroupRequest()
		sync.Group, sync.Generation, sync.MemberID = "ingest", joined.Generation, joined.MemberID
		if synced, err := sync.RequestWith(t.Context(), alive); err != nil || synced.ErrorCode != 0 {
			t.Fatalf("sync: %+v, %v", synced, err)
		}
		return joined.MemberID
	}
	id := lead("")
	go func() { _, _ = join(t.Context(), dead, "") }() // waits until the other member joins again
	testkit.Eventually(t, "the second member joins", func() bool { return len(membersOf(t.Context(), alive)["ingest"]) == 2 })
	dead.Close()
	lead(id)

	go func() { _ = evictGhosts(t.Context(), c, time.Second) }()
	testkit.Eventually(t, "the ghost leaves", func() bool {
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.MemberID = "ingest", id
		_, _ = beat.RequestWith(t.Context(), alive)
		members := membersOf(t.Context(), alive)["ingest"]
		return len(members) == 1 && members[0] == id
	})
}
