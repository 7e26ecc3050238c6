package deploy_test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// env is a value in a ClickHouse configuration: text, or the name of a variable.
type env struct {
	Text string `xml:",chardata"`
	From string `xml:"from_env,attr"`
}

// in returns the value with the environment of a service.
func (e env) in(s types.ServiceConfig) string {
	if e.From == "" {
		return strings.TrimSpace(e.Text)
	}
	return envOf(s)[e.From]
}

type host struct {
	Host env `xml:"host"`
	Port int `xml:"port"`
}

// clusterXML has what the test checks of deploy/clickhouse/cluster.xml and of the secret that is merged with it.
type clusterXML struct {
	Macro   string `xml:"macros>cluster"`
	Shard   env    `xml:"macros>shard"`
	Replica env    `xml:"macros>replica"`
	Name    env    `xml:"interserver_http_host"`
	Cluster struct {
		Secret string `xml:"secret"`
		Shards []struct {
			Internal bool   `xml:"internal_replication"`
			Replicas []host `xml:"replica"`
		} `xml:"shard"`
	} `xml:"remote_servers>shortline"`
	Keepers []host `xml:"zookeeper>node"`
	DDL     env    `xml:"distributed_ddl>path"`
	Fetch   struct {
		User     string `xml:"user"`
		Password string `xml:"password"`
	} `xml:"interserver_http_credentials"`
}

type keeperXML struct {
	Port    int    `xml:"keeper_server>tcp_port"`
	ID      env    `xml:"keeper_server>server_id"`
	Log     string `xml:"keeper_server>log_storage_path"`
	Control int    `xml:"keeper_server>http_control>port"`
	Ready   string `xml:"keeper_server>http_control>readiness>endpoint"`
	Members []struct {
		ID   string `xml:"id"`
		Host string `xml:"hostname"`
		Port int    `xml:"port"`
	} `xml:"keeper_server>raft_configuration>server"`
}

func unmarshal[T any](t *testing.T, text string) (out T) {
	t.Helper()
	testkit.Must(t, xml.Unmarshal([]byte(text), &out))
	return out
}

// startingWith returns the names of the services with a prefix and a digit, in order.
func startingWith(p *types.Project, prefix string) []string {
	name := regexp.MustCompile("^" + prefix + `\d$`)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.Services)), func(s string) bool { return !name.MatchString(s) })
}

// Each server is a replica of its own shard: macros, names, keepers and the queue of statements are right.
func TestCluster_servers_know_their_shard(t *testing.T) {
	t.Parallel()
	p := project(t, nil, fleets["cluster.yml"]...)
	c := unmarshal[clusterXML](t, read(t, "deploy/clickhouse/cluster.xml"))
	if c.Macro != "shortline" { // the name of the element of remote_servers
		t.Errorf("the macro cluster is %q", c.Macro)
	}
	if len(c.Cluster.Shards) != 1 || !c.Cluster.Shards[0].Internal || len(c.Cluster.Shards[0].Replicas) != 2 {
		t.Fatalf("a shard must be a cluster of one shard with two replicas and internal replication: %+v", c.Cluster)
	}
	queues := map[string]string{}
	for _, shard := range []string{"a", "b"} {
		servers := startingWith(p, "clickhouse-"+shard)
		if len(servers) != 2 {
			t.Fatalf("the shard %s has the servers %v", shard, servers)
		}
		for i, name := range servers {
			s := p.Services[name]
			if c.Shard.in(s) != shard || c.Replica.in(s) != fmt.Sprint(i+1) || c.Name.in(s) != name || s.Hostname != name {
				t.Errorf("%s: shard %q, replica %q, name %q, host name %q", name, c.Shard.in(s), c.Replica.in(s), c.Name.in(s), s.Hostname)
			}
			for j, r := range c.Cluster.Shards[0].Replicas {
				if r.Host.in(s) != servers[j] || r.Port != 9000 {
					t.Errorf("%s: replica %d is %s:%d", name, j+1, r.Host.in(s), r.Port)
				}
			}
			if other := queues[c.DDL.in(s)]; c.DDL.in(s) == "" || other != "" && other != shard {
				t.Errorf("%s: the queue of statements %q is that of the shard %q", name, c.DDL.in(s), other)
			}
			queues[c.DDL.in(s)] = shard
			for variable := range envOf(s) {
				if !strings.HasPrefix(variable, "CLICKHOUSE_") && !strings.Contains(read(t, "deploy/clickhouse/cluster.xml"),
					`from_env="`+variable+`"`) {
					t.Errorf("%s: nothing reads %s", name, variable)
				}
			}
			at := map[string]bool{}
			for _, v := range s.Volumes {
				at[v.Target] = true
			}
			if !at["/etc/clickhouse-server/config.d/cluster.xml"] || !at["/etc/clickhouse-server/users.d/cluster.xml"] ||
				!at["/etc/clickhouse-server/config.d/shortline.xml"] || !at["/var/lib/clickhouse"] {
				t.Errorf("%s mounts only %v", name, at)
			}
			for _, keeper := range startingWith(p, "clickhouse-keeper-") {
				if _, waits := s.DependsOn[keeper]; !waits {
					t.Errorf("%s does not wait for %s", name, keeper)
				}
			}
		}
	}
	if _, old := p.Services["clickhouse"]; old {
		t.Error("the single server runs, too")
	}
}

// The servers reach all keepers, and the keepers know each other.
func TestCluster_keepers_are_a_quorum(t *testing.T) {
	t.Parallel()
	p := project(t, nil, fleets["cluster.yml"]...)
	k := unmarshal[keeperXML](t, read(t, "deploy/clickhouse/keeper.xml"))
	names := startingWith(p, "clickhouse-keeper-")
	if len(names) != 3 || len(k.Members) != 3 {
		t.Fatalf("services %v, members %+v", names, k.Members)
	}
	nodes := unmarshal[clusterXML](t, read(t, "deploy/clickhouse/cluster.xml")).Keepers
	for i, name := range names {
		s := p.Services[name]
		if id := k.ID.in(s); id != k.Members[i].ID || k.Members[i].Host != name || k.Members[i].Port != k.Members[0].Port {
			t.Errorf("%s has the number %q, member %+v", name, id, k.Members[i])
		}
		if nodes[i].Host.in(s) != name || nodes[i].Port != k.Port {
			t.Errorf("servers look for %s at %+v, it listens on %d", name, nodes[i], k.Port)
		}
		if want := fmt.Sprintf("http://127.0.0.1:%d%s", k.Control, k.Ready); !slices.Contains(s.HealthCheck.Test, want) {
			t.Errorf("%s: the health check %v does not ask %s", name, s.HealthCheck.Test, want)
		}
		if !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return strings.HasPrefix(k.Log, v.Target+"/") }) {
			t.Errorf("%s: %s is not on a volume", name, k.Log)
		}
		if !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
			return slices.Contains(s.Entrypoint, "--config-file="+v.Target)
		}) {
			t.Errorf("%s: %v names a file that is not mounted", name, s.Entrypoint)
		}
	}
}

// Control planes know one address for each shard. It is a balancer, which knows the servers of this shard.
func TestCluster_addresses_lead_to_the_servers(t *testing.T) {
	t.Parallel()
	p := project(t, nil, fleets["cluster.yml"]...)
	config := read(t, "deploy/clickhouse/haproxy.cfg")
	listens := regexp.MustCompile(`(?m)^\s*bind (?:127\.0\.0\.1)?:(\d+)$`).FindAllStringSubmatch(config, -1)
	if len(listens) != 2 {
		t.Fatalf("haproxy.cfg listens on %v", listens)
	}
	urls := regexp.MustCompile(`(\w+)=clickhouse://shortline:\w+@([\w-]+):(\d+)/shortline`)
	for _, name := range []string{"control-1", "control-2", "migrate"} {
		s := p.Services[name]
		if envOf(s)["CLICKHOUSE_REPLICATED"] != "true" || envOf(s)["CLICKHOUSE_URLS_FILE"] != "/run/secrets/clickhouse_urls" {
			t.Errorf("%s: replicated %q, addresses in %q", name, envOf(s)["CLICKHOUSE_REPLICATED"], envOf(s)["CLICKHOUSE_URLS_FILE"])
		}
		found := urls.FindAllStringSubmatch(secret(t, p, "clickhouse_urls"), -1)
		if len(found) != 2 {
			t.Fatalf("%d addresses of shards", len(found))
		}
		for _, m := range found {
			address := p.Services[m[2]]
			if m[2] != "clickhouse-"+m[1] || m[3] != listens[0][1] || !strings.HasPrefix(address.Image, "haproxy:") {
				t.Errorf("the shard %s is at %s:%s, image %q", m[1], m[2], m[3], address.Image)
			}
			if _, waits := s.DependsOn[m[2]]; !waits {
				t.Errorf("%s does not wait for %s", name, m[2])
			}
			for i, server := range startingWith(p, m[2]) {
				variable := fmt.Sprintf("REPLICA_%d", i+1)
				if envOf(address)[variable] != server || !strings.Contains(config, `"${`+variable+`}:9000"`) {
					t.Errorf("%s: %s is %q, want %s", m[2], variable, envOf(address)[variable], server)
				}
				if _, waits := s.DependsOn[server]; !waits && name == "migrate" {
					t.Errorf("the migration does not wait for %s", server)
				}
			}
		}
		if _, old := s.DependsOn["clickhouse"]; old {
			t.Errorf("%s waits for the single server", name)
		}
	}
	if p.Services["control-1"].DependsOn["migrate"].Condition != types.ServiceConditionCompletedSuccessfully {
		t.Error("control planes do not wait for the migration")
	}
	if ready := "http://127.0.0.1:" + listens[1][1] + "/ready"; !slices.Contains(p.Services["clickhouse-a"].HealthCheck.Test, ready) {
		t.Errorf("the health check does not ask %s", ready)
	}
	// A check of the port for statements would not notice a replica that is behind.
	if !strings.Contains(config, "uri /replicas_status ") || !strings.Contains(config, " check port 8123 ") {
		t.Error("haproxy.cfg does not check /replicas_status")
	}
}

// Servers authenticate to each other, with values that make-secrets draws.
func TestCluster_servers_have_a_secret(t *testing.T) {
	t.Parallel()
	p := project(t, nil, fleets["cluster.yml"]...)
	s := unmarshal[clusterXML](t, secret(t, p, "clickhouse_cluster_secret"))
	if len(s.Cluster.Secret) < 32 || len(s.Fetch.Password) < 32 || s.Fetch.User == "" || s.Cluster.Secret == s.Fetch.Password {
		t.Errorf("unexpected secret of the cluster, %d and %d characters", len(s.Cluster.Secret), len(s.Fetch.Password))
	}
	for _, name := range append(startingWith(p, "clickhouse-a"), startingWith(p, "clickhouse-b")...) {
		if !slices.ContainsFunc(p.Services[name].Secrets, func(s types.ServiceSecretConfig) bool {
			return s.Source == "clickhouse_cluster_secret" && s.Target == "/etc/clickhouse-server/config.d/cluster-secret.xml"
		}) {
			t.Errorf("%s does not have the secret of the cluster", name)
		}
	}
}

// Without Docker, or with one that is too old, make e2e-cluster says so before it builds or creates anything.
func TestCluster_script_needs_Docker(t *testing.T) {
	t.Parallel()
	script := source(t, "test/cluster/run")
	if text, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for docker, want := range map[string]string{
		"":                            "Docker is not installed",
		"[ $1 != info ]":              "no Docker engine answers",
		"[ $1 = info ]":               "the plugin Docker Compose is not installed",
		"[ $1 = info ] || echo 2.9.0": "Docker Compose 2.9.0 is too old",
	} {
		dir := t.TempDir()
		for _, tool := range []string{"bash", "dirname", "env", "head", "sort"} {
			path, err := exec.LookPath(tool)
			testkit.Must(t, err)
			testkit.Must(t, os.Symlink(path, filepath.Join(dir, tool)))
		}
		if docker != "" {
			testkit.Must(t, os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/usr/bin/env bash\n"+docker+"\n"), 0o755))
		}
		run := exec.Command(script)
		run.Env = []string{"PATH=" + dir, "HOME=" + dir}
		if text, err := run.CombinedOutput(); err == nil || !strings.HasPrefix(string(text), "e2e-cluster: "+want) {
			t.Errorf("docker is %q: %v: %s", docker, err, text)
		}
	}
}
