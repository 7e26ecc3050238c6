package main

// now queries the current value, over a time series.
func now(expr string) question { return question{from: metrics, text: expr} }
func over(expr, legend string) question {
	return question{from: metrics, text: expr, legend: legend, series: true}
}

// regional selects edges by region (the setting REGION). An edge exports its region in a metric of its own, so no other
// metric needs a label for it.
func regional() []variable {
	return []variable{
		queryVariable("region", "Region", metrics, "label_values(shortline_edge_info, region)", everything(0)),
		queryVariable("instance", "Instance", metrics, `label_values(shortline_edge_info{region=~"$region"}, instance)`, everything(0)),
	}
}

// instances selects among the processes that export a metric.
func instances(metric string) variable {
	return queryVariable("instance", "Instance", metrics, "label_values("+metric+", instance)", everything(0))
}

const (
	here = `{instance=~"$instance"}`
	win  = "[$__rate_interval]"
)

// answersByOutcome is the chart of what edges answer.
func answersByOutcome() panel {
	answers := chart("Answers", "Answered requests per second, by outcome.", "reqps",
		over("sum by (outcome) (rate(shortline_edge_answers_total"+here+win+"))", "{{outcome}}")).wide(12)
	answers.stacked, answers.colors = true, map[string]string{"redirect": good, "not_found": faint, "panic": bad, "busy": warning,
		"refused": warning}
	return answers
}

// fleet covers the edges.
func fleet() dashboard {
	failures := chart("Errors", "Share of answers with a 5xx status. The objective is at most 0.1 %.", "percentunit",
		over("sum(rate(shortline_edge_errors_total"+here+win+")) / sum(rate(shortline_edge_answers_total"+here+win+"))", "errors"))
	failures.steps = []step{{"transparent", 0}, {warning, 0.001}}
	behind := chart("Revision lag", "Revisions between the control plane's newest and the edge's.", "short",
		over("scalar(max(shortline_store_revision)) - shortline_edge_revision"+here, "{{instance}}"))
	behind.steps = []step{{"transparent", 0}, {warning, 100}}
	contact := chart("Time since last success",
		"Time since the links of the edge were last those of the control plane. An edge keeps serving the links that it has.", "s",
		over("time() - shortline_agent_last_success_timestamp_seconds"+here, "{{instance}}"))
	contact.steps = []step{{"transparent", 0}, {warning, 60}, {bad, 300}}
	return dashboard{
		file: "edges.json", uid: "shortline-edges", title: "Edges",
		text: "Answers of the edges, their latency, and how current their links are.",
		from: "now-3h", refresh: "15s", sources: []source{metrics}, variables: regional(),
		panels: []panel{
			stat("Ready", "Share of edges that have links to serve.", "percentunit", over("avg(shortline_edge_ready"+here+")", ""),
				step{bad, 0},
				step{warning, 0.5}, step{good, 1}),
			stat("Answers", "Answered requests per second.", "reqps", over("sum(rate(shortline_edge_answers_total"+here+win+"))", "")),
			stat("Not found", "Share of answers for links that do not exist.", "percentunit",
				over(`sum(rate(shortline_edge_answers_total{instance=~"$instance",outcome="not_found"}`+win+
					`)) / sum(rate(shortline_edge_answers_total`+here+win+`))`, ""), step{good, 0}, step{warning, 0.5}),
			stat("Links", "Links of the edge that has the fewest.", "short", over("min(shortline_edge_links"+here+")", "")),
			stat("Links without rules", "Links whose rules an edge cannot use. Visitors go to the default destination.", "short",
				over("max(shortline_edge_links_set_aside"+here+")", ""), step{good, 0}, step{warning, 1}),
			stat("Panics", "Requests that panicked in the time range.", "short",
				over("sum(increase(shortline_edge_panics_total"+here+"[$__range]))",
					""), step{good, 0}, step{bad, 1}),
			answersByOutcome(),
			chart("Answers by edge", "Answered requests per second, by edge.", "reqps",
				over("sum by (instance) (rate(shortline_edge_answers_total"+here+win+"))", "{{instance}}")),
			redirectLatency(),
			chart("Latency by outcome", "99th percentile, by outcome.", "s",
				over("histogram_quantile(0.99, sum by (le, outcome) (rate(shortline_edge_request_duration_seconds_bucket"+here+win+")))",
					"{{outcome}}")),
			failures,
			chart("Slow redirects",
				"Share of redirects that took longer than 25 ms, over 5 minutes and 6 hours, for all edges. The objective is at most 1 %.",
				"percentunit",
				over("shortline:edge_slow_redirects:ratio_rate5m", "5 minutes"), over("shortline:edge_slow_redirects:ratio_rate6h",
					"6 hours")),
			contact, behind,
			chart("Redirects by rule and variant", "Redirects per second whose destination came from a routing rule or an A/B test.",
				"reqps", over("sum(rate(shortline_edge_rule_redirects_total"+here+win+"))", "rule"),
				over("sum(rate(shortline_edge_variant_redirects_total"+here+win+"))", "variant")),
			passwords(),
			limitedLinks(),
			chart("Applied changes", "Changes and full documents that edges applied, and those that they rejected, per second.", "ops",
				over("sum(rate(shortline_agent_deltas_applied_total"+here+win+"))", "changes"),
				over("sum(rate(shortline_agent_documents_loaded_total"+here+win+"))", "documents"),
				over("sum(rate(shortline_agent_refused_total"+here+win+"))", "rejected"),
				over("sum(rate(shortline_agent_errors_total"+here+win+"))", "errors")),
			chart("Proxied requests",
				"Requests in flight to the control plane, those that failed, and those rejected because too many were in flight.", "short",
				over("sum(shortline_edge_upstream_in_flight"+here+")", "in flight"),
				over("sum(rate(shortline_edge_upstream_errors_total"+here+win+"))",
					"errors per second"),
				over("sum(rate(shortline_edge_upstream_refused_total"+here+win+"))", "rejected per second")),
			chart("Memory", "Resident memory of the process, and the part that holds the links.", "bytes",
				over("process_resident_memory_bytes"+here, "{{instance}}"), over("shortline_edge_links_bytes"+here, "{{instance}} links")),
			chart("CPU", "CPU seconds used per second.", "short", over("rate(process_cpu_seconds_total"+here+win+")", "{{instance}}")),
			chart("Connections", "Open client connections, and connections closed per second because the limit was reached.", "short",
				over("shortline_edge_connections"+here, "{{instance}}"),
				over("sum(rate(shortline_edge_connections_shed_total"+here+win+"))",
					"closed per second")),
			chart("Goroutines", "Number of goroutines. A steady rise indicates a leak.", "short",
				over("go_goroutines"+here, "{{instance}}")),
			edgesTable(),
			table("Versions", "Running versions, and the number of processes of each, over all programs.", "short",
				now("count by (version) (shortline_build_info)")),
			chart("Uptime", "Time since each process started. A drop is a restart.", "s",
				over("time() - process_start_time_seconds", "{{instance}}")),
		},
	}
}

func passwords() panel {
	return chart("Passwords",
		"Passwords checked per second, client addresses with failed attempts on record, and the exchange of attempts between edges.",
		"short",
		over("sum(rate(shortline_edge_passwords_checked_total"+here+win+"))", "checked per second"),
		over("sum(shortline_edge_guessers"+here+")", "addresses"),
		over("sum(rate(shortline_edge_locks_learned_total"+here+win+"))", "states received per second"),
		over("sum(rate(shortline_edge_locks_errors_total"+here+win+"))", "failed exchanges per second"))
}

func limitedLinks() panel {
	return chart("Limited links",
		"Clicks of links with a limit per second: counted, or refused because the edge could not decide. Exchanges of the counts with the "+
			"control plane, those that failed, and the time since the last one.", "short",
		over("sum(rate(shortline_edge_limit_granted_total"+here+win+"))", "counted"),
		over("sum(rate(shortline_edge_limit_unknown_total"+here+win+"))", "undecided"),
		over("sum(rate(shortline_edge_limit_exchanges_total"+here+win+"))", "exchanges"),
		over("sum(rate(shortline_edge_limit_errors_total"+here+win+"))", "failed exchanges"),
		over("max(shortline_edge_limit_exchange_age_seconds"+here+")", "seconds since the last exchange"))
}

func redirectLatency() panel {
	took := func(q, name string) question {
		return over("histogram_quantile("+q+
			`, sum by (le) (rate(shortline_edge_request_duration_seconds_bucket{instance=~"$instance",outcome="redirect"}`+win+")))", name)
	}
	latency := chart("Redirect latency",
		"Time that redirects took in the edge: 50th, 99th and 99.9th percentile. One request in 16 is measured.", "s",
		took("0.5", "p50"), took("0.99", "p99"), took("0.999", "p99.9"))
	latency.steps = []step{{"transparent", 0}, {warning, 0.025}}
	return latency
}

func edgesTable() panel {
	edges := table("Edges",
		"State of each edge: readiness, links, revision, time since its links were last those of the control plane, answers per second.",
		"short", question{from: metrics, text: "max by (instance) (shortline_edge_ready" + here + ")"},
		question{from: metrics, text: "max by (instance) (shortline_edge_links" + here + ")"},
		question{from: metrics, text: "max by (instance) (shortline_edge_revision" + here + ")"},
		question{from: metrics, text: "time() - max by (instance) (shortline_agent_last_success_timestamp_seconds" + here + ")"},
		question{from: metrics, text: "sum by (instance) (rate(shortline_edge_answers_total" + here + "[5m]))"},
	).wide(24)
	edges.join = "instance"
	edges.hide = []string{"Time 1", "Time 2", "Time 3", "Time 4", "Time 5"}
	edges.names = map[string]string{"Value #A": "ready", "Value #B": "links", "Value #C": "revision", "Value #D": "last success",
		"Value #E": "answers"}
	edges.units = map[string]string{"ready": "bool_yes_no", "revision": "none", "last success": "s", "answers": "reqps"}
	return edges
}

// stale counts the hours whose rollups are out of date: writers have added marks since the last build.
const stale = `SELECT uniqExact(intDiv(slot, 4)) AS hours FROM
	(SELECT slot, sum(n) AS written FROM (SELECT slot, writer, max(n) AS n FROM rollup_marks GROUP BY slot, writer) GROUP BY slot) AS m
	LEFT JOIN (SELECT slot, max(marks) AS built FROM rollup_builds GROUP BY slot) AS b USING (slot)
WHERE written != built AND slot < intDiv(toUnixTimestamp(now()), 900) - 8`

func oldestPending() panel {
	oldest := chart("Oldest pending click",
		"Age of the oldest unacknowledged click on the disk of each edge. It shows a single stuck lane, which the time since the last "+
			"delivery does not.", "s",
		over("shortline_spool_oldest_pending_seconds"+here, "{{instance}}"))
	oldest.steps = []step{{"transparent", 0}, {warning, 60}, {bad, 900}}
	return oldest
}

func lastReadAndSync() panel {
	return chart("Last read and sync", "Time since a consumer group last delivered clicks, and since each spool was last synced.", "s",
		over("time() - max by (group, kafka) (shortline_kafkasource_last_success_timestamp_seconds > 0)", "{{group}} {{kafka}}"),
		over("time() - (shortline_spool_last_success_timestamp_seconds"+here+" > 0)", "{{instance}}"))
}

func oldestUnread() panel {
	age := chart("Oldest unread message",
		"Age of the oldest message that each consumer group has not read, by region. Reports lack the clicks of a region since then. A "+
			"message that reaches the topic's retention unread is lost.", "s",
		over("max by (group, kafka) (shortline_kafkasource_lag_seconds)", "{{group}} {{kafka}}"))
	age.steps = []step{{"transparent", 0}, {warning, 600}, {bad, 3600}}
	return age
}

func spoolUsage() panel {
	fill := chart("Spool usage", "Used share of the spool's capacity. A full spool drops new clicks and counts them.", "percentunit",
		over("shortline:spool_fill:ratio"+here, "{{instance}}"))
	fill.steps, fill.max = []step{{"transparent", 0}, {warning, 0.6}, {bad, 0.8}}, number(1)
	return fill
}

// pipeline covers the path of clicks from the edges' disks to ClickHouse.
func pipeline() dashboard {
	fill := spoolUsage()
	ship := chart("Time since last delivery", "Time since clicks of an edge were last acknowledged, while clicks are pending.", "s",
		over("shortline:ship_lag:seconds"+here, "{{instance}}"))
	ship.steps = []step{{"transparent", 0}, {warning, 60}, {bad, 600}}
	lag := chart("Consumer lag", "Kafka messages that each consumer group has not read yet, by region.", "short",
		over("sum by (group, kafka) (shortline_kafkasource_lag_messages)", "{{group}} {{kafka}}"))
	lag.steps = []step{{"transparent", 0}, {warning, 10000}}
	stages := chart("Pipeline",
		"Clicks per second at three stages: written to the spool, acknowledged, stored. Normally the lines coincide.",
		"ops",
		over("sum(rate(shortline_spool_clicks_appended_total"+win+"))", "spooled"), over("sum(rate(shortline_ship_clicks_total"+win+"))",
			"acknowledged"), over(`sum(rate(shortline_ingest_clicks_total{result="stored"}`+win+"))", "stored")).wide(24)
	alarm := func(title, about, expr string) panel {
		return stat(title, about, "short", over(expr, ""), step{good, 0}, step{bad, 1})
	}
	return dashboard{
		file: "pipeline.json", uid: "shortline-pipeline", title: "Click pipeline",
		text: "Clicks on their way to ClickHouse: the spool of each edge, delivery, Kafka, ingest.",
		from: "now-3h", refresh: "15s", sources: []source{metrics, clicks}, variables: regional(),
		panels: []panel{
			stat("Stored", "Clicks stored per second.", "ops", over(`sum(rate(shortline_ingest_clicks_total{result="stored"}`+
				win+"))", "")),
			stat("Pending", "Unacknowledged clicks on the disks of all edges.", "short", over("sum(shortline_spool_clicks_pending)", ""),
				step{good, 0}, step{warning, 100000}),
			stat("Last stored", "Time since ingest last stored clicks.", "s",
				over("time() - max(shortline_ingest_last_success_timestamp_seconds > 0)", ""), step{good, 0}, step{warning, 300}),
			alarm("Dropped", "Clicks dropped because a spool was full, in the time range.",
				"sum(increase(shortline_spool_clicks_dropped_total[$__range]))"),
			alarm("Lost on disk", "Clicks lost in damaged spool files, in the time range.",
				"sum(increase(shortline_spool_clicks_lost_total[$__range]))"),
			alarm("Moved to files", "Invalid batches, unreadable messages and clicks too large to send, in the time range.",
				"sum(increase(shortline_ingest_refused_batches_total[$__range])) + "+
					"(sum(increase(shortline_kafkasource_dead_messages_total[$__range])) or vector(0)) + "+
					"(sum(increase(shortline_kafkasink_dead_clicks_total[$__range])) or vector(0))"),
			alarm("Missing",
				"Clicks that are neither stored nor reported as lost, although later clicks of their lane are. The audit requests them again from "+
					"their edge.", "max(shortline_audit_gap_clicks)"),
			alarm("Gone", "Missing clicks that their edge no longer has.", "max(shortline_audit_gone_clicks)"),
			alarm("Drift", "Difference between reports and stored clicks, in the compared hours.",
				"max(abs(shortline_audit_drift_clicks))"),
			alarm("Duplicate identities",
				"Edges with a rejected duplicate within the last hour: two processes have copies of one data folder.",
				"max(shortline_audit_identity_clashes)"),
			alarm("Reported lost", "Clicks that edges report as lost, over all time.", "max(shortline_audit_lost_clicks)"),
			stat("Last audit", "Time since the last click audit.", "s",
				over("time() - max(shortline_audit_last_success_timestamp_seconds > 0)", ""),
				step{good, 0}, step{warning, 300}),
			stages, fill,
			chart("Pending clicks", "Unacknowledged clicks on the disk of each edge.", "short",
				over("shortline_spool_clicks_pending"+here, "{{instance}}")),
			ship, oldestPending(),
			chart("Failed deliveries", "Failed deliveries per second, which are retried, and lanes that wait for a retry.", "short",
				over("rate(shortline_ship_errors_total"+here+win+")", "{{instance}} errors per second"),
				over("shortline_ship_lanes_failing"+here, "{{instance}} lanes")),
			lag, oldestUnread(),
			chart("Kafka errors", "Failed requests to Kafka per second, of edges (deliver) and of ingest (read).", "ops",
				over("sum(rate(shortline_kafkasink_errors_total"+win+"))", "deliver"),
				over("sum(rate(shortline_kafkasource_errors_total"+win+"))", "read")),
			chart("Read from Kafka", "Messages and clicks read per second. Frequent assignments mean that members join and leave.", "ops",
				over("sum(rate(shortline_kafkasource_messages_total"+win+"))", "messages"),
				over("sum(rate(shortline_kafkasource_clicks_total"+win+"))", "clicks"),
				over("sum(increase(shortline_kafkasource_generations_total[1h]))", "assignments of partitions in an hour")),
			lastReadAndSync(),
			chart("Clicks at ingest", "Clicks per second by result: stored, discarded as duplicates, or reported as lost by edges.", "ops",
				over("sum by (result) (rate(shortline_ingest_clicks_total"+win+"))", "{{result}}")),
			chart("Errors", "Failures per second: inserts, counter updates, spool writes.", "ops",
				over("sum(rate(shortline_ingest_errors_total"+win+"))", "inserts"),
				over("sum(rate(shortline_counters_errors_total"+win+"))",
					"counters"), over("sum(rate(shortline_spool_errors_total"+here+win+"))", "spool")),
			stat("Outdated rollups",
				"Hours that ended at least two hours ago and whose rollup lacks clicks. Reports read the single clicks of these hours.",
				"short", question{from: clicks, text: stale}, step{good, 0}, step{warning, 24}),
			chart("Bytes shipped", "Bytes of clicks acknowledged per second.", "Bps", over("rate(shortline_ship_bytes_total"+here+win+")",
				"{{instance}}")),
			chart("Spool on disk", "Disk space that each spool uses.", "bytes", over("shortline_spool_bytes"+here, "{{instance}}")).wide(8),
		},
	}
}

// deliveries covers webhooks.
func deliveries() dashboard {
	age := chart("Oldest delivery",
		"Time that the oldest queued delivery has waited. It rises for some minutes while a receiver is down, until the delivery is abandoned.",
		"s", over("max(shortline_webhooks_queue_oldest_seconds)", "oldest"))
	age.steps = []step{{"transparent", 0}, {warning, 300}, {bad, 900}}
	attempts := chart("Attempts", "Attempts per second, by outcome.", "ops",
		over("sum by (outcome) (rate(shortline_webhooks_attempts_total"+
			win+"))", "{{outcome}}"))
	attempts.stacked, attempts.colors = true, map[string]string{"success": good, "failure": bad}
	slow := func(q string) question {
		return over("histogram_quantile("+q+", sum by (le) (rate(shortline_webhooks_attempt_duration_seconds_bucket"+win+")))", "p"+q[2:])
	}
	return dashboard{
		file: "webhooks.json", uid: "shortline-webhooks", title: "Webhooks", text: "Webhook deliveries.",
		from: "now-3h", refresh: "15s", sources: []source{metrics},
		panels: []panel{
			stat("Queued", "Deliveries to active webhooks that are not finished.", "short",
				over("max(shortline_webhooks_queue_deliveries)", ""),
				step{good, 0}, step{warning, 1000}),
			stat("Oldest", "Time that the oldest queued delivery has waited.", "s",
				over("max(shortline_webhooks_queue_oldest_seconds)", ""),
				step{good, 0}, step{warning, 300}, step{bad, 900}),
			stat("Success", "Share of attempts that succeeded.", "percentunit",
				over(`sum(rate(shortline_webhooks_attempts_total{outcome="success"}`+
					win+`)) / sum(rate(shortline_webhooks_attempts_total`+win+`))`, ""), step{bad, 0}, step{warning, 0.8},
				step{good, 0.95}),
			stat("In flight", "Attempts in progress.", "short", over("sum(shortline_webhooks_in_flight)", "")),
			stat("Dropped events", "Click events dropped because the queue was full, in the time range.", "short",
				over("sum(increase(shortline_webhooks_click_events_dropped_total[$__range]))", ""), step{good, 0}, step{warning, 1}),
			stat("Last flush", "Time since any replica last looked for due deliveries.", "s",
				over("time() - max(shortline_webhooks_last_success_timestamp_seconds)", ""), step{good, 0}, step{bad, 30}),
			attempts,
			chart("Duration", "Duration of attempts: 50th, 95th and 99th percentile.", "s", slow("0.50"), slow("0.95"), slow("0.99")),
			chart("Queue", "Queued deliveries.", "short", over("max(shortline_webhooks_queue_deliveries)", "queue")),
			age, chart("Database errors", "Failed reads and writes of the queue per second.", "ops",
				over("sum by (instance) (rate(shortline_webhooks_errors_total"+win+"))", "{{instance}}")),
			chart("Click events", "Clicks received for webhooks per second, and batches that could not be queued.", "ops",
				over("sum(rate(shortline_hooks_clicks_total"+win+"))", "clicks"),
				over("sum(rate(shortline_hooks_errors_total"+win+"))", "errors")),
		},
	}
}

// control covers the API, the database and publishing.
func control() dashboard {
	const route = `{instance=~"$instance"}`
	codes := chart("Requests", "API requests per second, by status class.", "reqps",
		over("sum by (code) (rate(shortline_api_requests_total"+route+win+"))", "{{code}}"))
	codes.stacked, codes.colors = true, map[string]string{"2xx": good, "3xx": calm, "4xx": warning, "5xx": bad}
	slow := func(q string) question {
		return over("histogram_quantile("+q+", sum by (le) (rate(shortline_api_request_duration_seconds_bucket"+route+win+")))", "p"+q[2:])
	}
	slowest := table("Slowest routes", "Routes with the highest 95th percentile of duration, in the time range.", "s",
		now("topk(15, histogram_quantile(0.95, sum by (le, method, route) (rate(shortline_api_request_duration_seconds_bucket"+route+
			"[$__range]))) > 0)"))
	busiest := table("Busiest routes", "Routes with the most requests per second, in the time range.", "reqps",
		now("topk(15, sum by (method, route) (rate(shortline_api_requests_total"+route+"[$__range])))"))
	pool := chart("Database connections", "Connections in use, idle connections, and the limit.", "short",
		over("sum by (pool, state) (shortline_store_connections"+route+")", "{{pool}} {{state}}"),
		over("sum by (pool) (shortline_store_connections_max"+route+")", "{{pool}} limit"))
	return dashboard{
		file: "control.json", uid: "shortline-control", title: "Control plane",
		text: "The API, its database, and the publishing of links to edges.",
		from: "now-3h", refresh: "15s", sources: []source{metrics}, variables: []variable{instances("shortline_api_requests_in_flight")},
		panels: []panel{
			stat("Requests", "API requests per second.", "reqps", over("sum(rate(shortline_api_requests_total"+route+win+"))", "")),
			stat("Errors", "Share of requests with a 5xx status.", "percentunit", over("shortline:api_errors:ratio_rate5m", ""),
				step{good, 0},
				step{warning, 0.01}, step{bad, 0.05}),
			stat("p95", "95th percentile of request duration.", "s", over("shortline:api_duration_seconds:p95_5m", ""), step{good, 0},
				step{warning, 0.5}, step{bad, 2}),
			stat("In flight", "API requests in progress.", "short", over("sum(shortline_api_requests_in_flight"+route+")", "")),
			stat("Rate limited", "Requests rejected by a rate limit, in the time range.", "short",
				over("sum(increase(shortline_api_rate_limited_total"+route+"[$__range]))", "")),
			stat("Revision", "The newest revision of the links.", "none", over("max(shortline_store_revision"+route+")", "")),
			codes,
			chart("Duration", "Duration of requests: 50th, 95th and 99th percentile.", "s", slow("0.50"), slow("0.95"), slow("0.99")),
			slowest, busiest, pool,
			chart("Waiting for a connection", "Time that all requests together spent waiting for a database connection, per second.",
				"percentunit", over("sum by (pool) (rate(shortline_store_wait_seconds_total"+route+win+"))", "{{pool}}")),
			chart("Rate-limited requests", "Requests rejected per second, by rate limit.", "reqps",
				over("sum by (limit) (rate(shortline_api_rate_limited_total"+route+win+"))", "{{limit}}")),
			chart("Link changes", "New revisions per second.", "ops", over("max(deriv(shortline_store_revision"+route+"[5m]))", "changes")),
			chart("Answers to edges", "Answers per second to edges, by route and status class.", "reqps",
				over("sum by (route, code) (rate(shortline_edgeapi_answers_total"+route+win+"))", "{{route}} {{code}}"),
				over("sum(rate(shortline_edgeapi_refused_total"+route+win+"))", "without a valid token")),
			chart("Waiting edges", "Edges waiting for changes (long polls), and full documents being sent.", "short",
				over("sum(shortline_publish_held_requests"+route+")", "waiting"), over("sum(shortline_edgeapi_snapshots_sending"+route+")",
					"documents")),
			chart("Full documents", "Time spent building full documents per second, and failed builds per second.", "short",
				over("sum(rate(shortline_publish_documents_seconds_total"+route+win+"))", "seconds"),
				over("sum(rate(shortline_publish_errors_total"+route+win+"))", "failed")),
			chart("Memory", "Resident memory of the process.", "bytes", over("process_resident_memory_bytes"+route, "{{instance}}")),
			chart("Report cache", "Report cache lookups per second, by result.", "reqps",
				over("sum by (result) (rate(shortline_report_cache_lookups_total"+route+win+"))", "{{result}}")),
			chart("Live feeds", "Open live feeds, clicks per second for which a reader was too slow, failed deliveries, and the "+
				"time since the last success.", "short", over("sum(shortline_live_subscriptions"+route+")", "open"),
				over(`sum(rate(shortline_live_clicks_total{instance=~"$instance",result="dropped"}`+win+"))", "dropped"),
				over("sum(rate(shortline_live_errors_total"+route+win+"))", "failed"),
				over("max(time() - (shortline_live_last_success_timestamp_seconds"+route+" > 0))", "seconds since the last success")),
			chart("Checked destinations", "Destinations of links that were asked whether they work, per hour, by result.", "short",
				over("sum by (result) (increase(shortline_destination_health_checks_total"+route+"[1h]))", "{{result}}")),
			chart("Traces", "Spans per second that the collector accepted, and that could not be delivered to it.", "ops",
				over("sum by (result) (rate(shortline_tracing_spans_total"+route+win+"))", "{{result}}")),
			jobs(route),
		},
	}
}

// jobs lists the background jobs. All of them have the same metrics, so none needs its own.
func jobs(where string) panel {
	ask := func(expr string) question { return question{from: metrics, text: expr} }
	list := table("Background jobs",
		"Runs, failed runs and total duration of each background job in the time range, and the time since it last succeeded.", "short",
		ask("sum by (name) (increase(shortline_job_runs_total"+where+"[$__range]))"),
		ask("sum by (name) (increase(shortline_job_errors_total"+where+"[$__range]))"),
		ask("sum by (name) (increase(shortline_job_seconds_total"+where+"[$__range]))"),
		ask("time() - max by (name) (shortline_job_last_success_timestamp_seconds"+where+" > 0)")).wide(24)
	list.join = "name"
	list.hide = []string{"Time 1", "Time 2", "Time 3", "Time 4"}
	list.names = map[string]string{"name": "job", "Value #A": "runs", "Value #B": "failed", "Value #C": "duration",
		"Value #D": "last success"}
	list.units = map[string]string{"duration": "s", "last success": "s"}
	return list
}
