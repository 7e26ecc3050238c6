package main

import "strings"

// fullSizes are the settings of the experiments of test/harness for a release, by the beginning of their names without
// "Test". The longest beginning counts. Their docs are in docs/developers/reliability.md.
var fullSizes = map[string]string{
	"G01_": "N=300 LINKS=1000000", "G01to05": "N=200", "G02": "DUR=10m KAFKA=real", "G03_kafka": "N=60", "G03_brokers": "N=20",
	"G04": "N=12 KAFKA=real", "G05_": "N=500", "G06": "N=20 LINKS=1000000", "G09": "N=50", "G10": "N=10000", "G11_clocks": "DUR=5m",
	"G12": "DUR=5m RATE=9000", "G13_kill": "N=200", "G13_failover": "N=20", "G14_slow": "N=2000", "G14_more": "N=3000",
	"G15": "N=10000000", "G16": "N=100000", "G20_webhooks": "N=20 DUR=5m", "G24": "DUR=59s", "G28": "DUR=15m",
	"G29": "LINKS=930000", "G32": "N=100000 RATE=10000", "G33": "N=3000 DUR=5m", "G34": "N=10", "G36": "DUR=15s",
	"G37": "N=100", "G39": "N=50", "G40": "VISITORS=100000 N=50", "G42": "LINKS=10000000 CLICKS=200000000 DUR=15m",
	"G43": "DUR=1h RATE=5000 HOME_RATE=300", "G44": "N=10 RATE=300", "G45": "N=4", "G46": "N=60", "G47": "N=6",
}

// bounds are the experiments of packages whose size for a release takes so long that they run by themselves, without the
// race detector.
var bounds = []item{
	{Package: project + "shared/kafkaconn", Test: "TestConn_survives", Env: "FLIPS=10000"},
	{Package: project + "shared/snapshot", Test: "refused", Env: "IMAGES=100000"},
	{Package: project + "edge/internal/spool", Test: "TestRecovery", Env: "CASES=100"},
	{Package: project + "control/internal/clicks/analytics/duckdb", Test: "TestStore_kill", Env: "N=300"},
	{Package: project + "control/internal/api", Test: "TestHostile|TestPermissions|TestWorkspaces_do_not_leak"},
	{Package: project + "control/internal/manage/media/picture", Test: "TestConvert", Env: "IMAGES=500"},
	{Package: project + "control/internal/platform/auth", Test: "TestLogin_tells|TestKey_near", Env: "LOGINS=2000 KEYS=10000"},
	{Package: project + "control/internal/manage/audit", Test: "TestVerify", Env: "ROWS=10000 MUTATIONS=1000"},
	{Package: project + "control/cmd/standalone", Test: "TestE2E_(kill|disk)", Env: "N=300"},
	{Package: project + "edge", Test: "TestG38"},
	{Package: project + "control/internal/clicks/report", Test: "TestReports_equal_a_count_in_memory", Env: "SHORTLINE_COMBINATIONS=1"},
}

// fullSize returns the settings, NAME=value and separated by spaces, of an experiment of test/harness.
func fullSize(test string) (settings string) {
	name, found := strings.TrimPrefix(test, "Test"), ""
	for prefix, s := range fullSizes {
		if strings.HasPrefix(name, prefix) && len(prefix) > len(found) {
			found, settings = prefix, s
		}
	}
	return settings
}
