package kafkasource_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// ghost joins the group and then stays silent. It returns when the group has accepted it, or ctx ends.
func ghost(ctx context.Context, t *testing.T, c *kfake.Cluster) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ClientID("ghost"), versions)
	if err != nil {
		t.Error(err)
		return
	}
	defer client.Close()
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{topic}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType = "ingest", "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 60_000, 60_000
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name, protocol.Metadata = "range", meta.AppendTo(nil)
	req.Protocols = append(req.Protocols, protocol)
	for range 2 { // the first response is a member id
		res, err := req.RequestWith(ctx, client)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		req.MemberID = res.MemberID
	}
}

// members returns the group's state and how many of its members are Sources.
func members(t *testing.T, c *kfake.Cluster) (state string, sources int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), versions)
	testkit.Must(t, err)
	defer client.Close()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{"ingest"}
	res, err := req.RequestWith(t.Context(), client)
	testkit.Must(t, err)
	for _, g := range res.Groups {
		state = g.State
		for _, m := range g.Members {
			if strings.HasPrefix(m.ClientID, "shortline") {
				sources++
			}
		}
	}
	return state, sources
}

// A member stops while the group waits for a dead member. It leaves the group at once; otherwise it would delay the
// group for another session.
func TestRun_leaves_a_group_that_waits_for_the_dead(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	s, stop := run(t, c, newRecorder(t), func(cfg *kafkasource.Config) { cfg.Session = 5 * time.Second })
	testkit.Eventually(t, "it is a member", func() bool { return s.Stats().Generations > 0 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ghost(ctx, t, c)
	joins := make(chan struct{})
	var leaves atomic.Int64
	c.ControlKey(int16(kmsg.LeaveGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		leaves.Add(1)
		return nil, nil, false
	})
	c.ControlKey(int16(kmsg.JoinGroup), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if req.(*kmsg.JoinGroupRequest).SessionTimeoutMillis == 5000 { // the member, not a ghost
			close(joins)
			return nil, nil, false
		}
		c.KeepControl()
		return nil, nil, false
	})
	ended := make(chan struct{})
	go func() { // never accepted, because the first ghost does not join again
		defer close(ended)
		ghost(ctx, t, c)
	}()
	testkit.Eventually(t, "the group waits", func() bool { state, n := members(t, c); return state == "PreparingRebalance" && n == 1 })
	<-joins // the member waits too
	began := time.Now()
	stop()
	testkit.Within(t, 4*time.Second, began, "leaving the group")
	if n := leaves.Load(); n != 1 {
		t.Errorf("it has left %d times", n)
	}
	if state, n := members(t, c); state != "PreparingRebalance" || n != 0 {
		t.Errorf("the group is in the state %s, with %d members that have stopped; the dead one should keep it waiting", state, n)
	}
	cancel()
	<-ended
}
