package main

// now asks for the present value, over for its course.
func now(expr string) question { return question{from: metrics, text: expr} }
func over(expr, legend string) question {
	return question{from: metrics, text: expr, legend: legend, series: true}
}

// regional chooses among the edges of the chosen regions (REGION). An edge says its region in a metric of its own, so that no other
// metric needs a label for it.
func regional() []variable {
	return []variable{
		ask("region", "Region", metrics, "label_values(shortline_edge_info, region)", everything(0)),
		ask("instance", "Instance", metrics, `label_values(shortline_edge_info{region=~"$region"}, instance)`, everything(0)),
	}
}

// instances chooses among the processes that export a metric.
func instances(metric string) variable {
	return ask("instance", "Instance", metrics, "label_values("+metric+", instance)", everything(0))
}

const (
	here = `{instance=~"$instance"}`
	win  = "[$__rate_interval]"
)

// fleet is the edges.
func fleet() dashboard {
	answers := chart("Answers", "Requests answered each second, by what they were answered with.", "reqps", over("sum by (outcome) (rate(shortline_edge_answers_total"+here+win+"))", "{{outcome}}")).wide(12)
	answers.stacked, answers.colors = true, map[string]string{"redirect": good, "not_found": faint, "panic": bad, "busy": warning, "refused": warning}
	edges := table("Edges", "Each edge: whether it answers, how many links it serves and how far it is behind.", "short",
		question{from: metrics, text: "max by (instance) (shortline_edge_ready" + here + ")"},
		question{from: metrics, text: "max by (instance) (shortline_edge_links" + here + ")"},
		question{from: metrics, text: "max by (instance) (shortline_edge_revision" + here + ")"},
		question{from: metrics, text: "time() - max by (instance) (shortline_agent_last_success_timestamp_seconds" + here + ")"},
		question{from: metrics, text: "sum by (instance) (rate(shortline_edge_answers_total" + here + "[5m]))"},
	).wide(24)
	edges.join = "instance"
	edges.hide = []string{"Time 1", "Time 2", "Time 3", "Time 4", "Time 5"}
	edges.names = map[string]string{"Value #A": "ready", "Value #B": "links", "Value #C": "revision", "Value #D": "silent for", "Value #E": "answers"}
	edges.units = map[string]string{"ready": "bool_yes_no", "revision": "none", "silent for": "s", "answers": "reqps"}
	took := func(q, name string) question {
		return over("histogram_quantile("+q+`, sum by (le) (rate(shortline_edge_request_duration_seconds_bucket{instance=~"$instance",outcome="redirect"}`+win+")))", name)
	}
	latency := chart("Redirect latency", "How long redirects took in the edge: half, 99 % and 99.9 % were faster. One request in 16 is measured.", "s",
		took("0.5", "p50"), took("0.99", "p99"), took("0.999", "p99.9"))
	latency.steps = []step{{"transparent", 0}, {warning, 0.025}}
	failures := chart("Errors", "Share of answers with a 5xx status. The objective is 0.1 %.", "percentunit",
		over("sum(rate(shortline_edge_errors_total"+here+win+")) / sum(rate(shortline_edge_answers_total"+here+win+"))", "errors"))
	failures.steps = []step{{"transparent", 0}, {warning, 0.001}}
	behind := chart("Behind", "Revisions that the newest links have and the edge's don't.", "short",
		over("scalar(max(shortline_store_revision)) - shortline_edge_revision"+here, "{{instance}}"))
	behind.steps = []step{{"transparent", 0}, {warning, 100}}
	contact := chart("Since the last word", "Time since the control plane last answered an edge. Edges go on without, with the links they have.", "s",
		over("time() - shortline_agent_last_success_timestamp_seconds"+here, "{{instance}}"))
	contact.steps = []step{{"transparent", 0}, {warning, 60}, {bad, 300}}
	return dashboard{
		file: "edges.json", uid: "shortline-edges", title: "Edges", text: "What visitors get from the edges, and how fresh it is.",
		from: "now-3h", refresh: "15s", sources: []source{metrics}, variables: regional(),
		panels: []panel{
			stat("Ready", "Share of the edges that have links to answer from.", "percentunit", over("avg(shortline_edge_ready"+here+")", ""), step{bad, 0}, step{warning, 0.5}, step{good, 1}),
			stat("Answers", "Requests answered each second.", "reqps", over("sum(rate(shortline_edge_answers_total"+here+win+"))", "")),
			stat("Not found", "Share of answers that said there is no such link.", "percentunit", over(`sum(rate(shortline_edge_answers_total{instance=~"$instance",outcome="not_found"}`+win+`)) / sum(rate(shortline_edge_answers_total`+here+win+`))`, ""), step{good, 0}, step{warning, 0.5}),
			stat("Links", "Links in the table of the edge that has the fewest.", "short", over("min(shortline_edge_links"+here+")", "")),
			stat("Set aside", "Links that edges cannot use and answer without their rules.", "short", over("max(shortline_edge_links_set_aside"+here+")", ""), step{good, 0}, step{warning, 1}),
			stat("Panics", "Requests that hit a bug, in the range.", "short", over("sum(increase(shortline_edge_panics_total"+here+"[$__range]))", ""), step{good, 0}, step{bad, 1}),
			answers,
			chart("Answers by edge", "Requests answered each second, by edge.", "reqps", over("sum by (instance) (rate(shortline_edge_answers_total"+here+win+"))", "{{instance}}")),
			latency,
			chart("Latency by outcome", "99 % of the answers of each kind were faster.", "s",
				over("histogram_quantile(0.99, sum by (le, outcome) (rate(shortline_edge_request_duration_seconds_bucket"+here+win+")))", "{{outcome}}")),
			failures,
			chart("Slow redirects", "Share of redirects that took longer than 25 ms, over 5 minutes and 6 hours, at all edges. The objective is 1 %.", "percentunit",
				over("shortline:edge_slow_redirects:ratio_rate5m", "5 minutes"), over("shortline:edge_slow_redirects:ratio_rate6h", "6 hours")),
			contact, behind,
			chart("Redirects by rule and variant", "Redirects chosen by a routing rule, or by an A/B test.", "reqps",
				over("sum(rate(shortline_edge_rule_redirects_total"+here+win+"))", "rule"), over("sum(rate(shortline_edge_variant_redirects_total"+here+win+"))", "variant")),
			chart("Passwords", "Passwords compared each second, and addresses that are remembered for wrong ones.", "short",
				over("sum(rate(shortline_edge_passwords_checked_total"+here+win+"))", "compared a second"), over("sum(shortline_edge_guessers"+here+")", "addresses")),
			chart("Changes taken", "Changes and full documents that edges took, and what they refused.", "ops",
				over("sum(rate(shortline_agent_deltas_applied_total"+here+win+"))", "changes"), over("sum(rate(shortline_agent_documents_loaded_total"+here+win+"))", "documents"),
				over("sum(rate(shortline_agent_refused_total"+here+win+"))", "refused"), over("sum(rate(shortline_agent_errors_total"+here+win+"))", "errors")),
			chart("Requests passed on", "Requests that are with the control plane, and those that it did not answer or that were too many.", "short",
				over("sum(shortline_edge_upstream_in_flight"+here+")", "under way"), over("sum(rate(shortline_edge_upstream_errors_total"+here+win+"))", "errors a second"),
				over("sum(rate(shortline_edge_upstream_refused_total"+here+win+"))", "refused a second")),
			chart("Memory", "Memory of the process, and of the links in it.", "bytes", over("process_resident_memory_bytes"+here, "{{instance}}"), over("shortline_edge_links_bytes"+here, "{{instance}} links")),
			chart("Processor", "Seconds of processor time used each second.", "short", over("rate(process_cpu_seconds_total"+here+win+")", "{{instance}}")),
			chart("Connections", "Connections of visitors that are open, and those each second that had to go for others.", "short",
				over("shortline_edge_connections"+here, "{{instance}}"), over("sum(rate(shortline_edge_connections_shed_total"+here+win+"))", "shed a second")),
			chart("Goroutines", "Goroutines; a steady rise is a leak.", "short", over("go_goroutines"+here, "{{instance}}")),
			edges,
			table("Versions", "What builds run, and on how many processes of any kind.", "short", now("count by (version) (shortline_build_info)")),
			chart("Since the start", "How long each process has been running; a fall is a restart.", "s", over("time() - process_start_time_seconds", "{{instance}}")),
		},
	}
}

// stale counts hours whose sums are out of date: the marks that writers have made since are more than were summed up.
const stale = `SELECT uniqExact(intDiv(slot, 4)) AS hours FROM
	(SELECT slot, sum(n) AS written FROM (SELECT slot, writer, max(n) AS n FROM rollup_marks GROUP BY slot, writer) GROUP BY slot) AS m
	LEFT JOIN (SELECT slot, max(marks) AS built FROM rollup_builds GROUP BY slot) AS b USING (slot)
WHERE written != built AND slot < intDiv(toUnixTimestamp(now()), 900) - 8`

// pipeline is the road of clicks from the edges' disks into the store.
func pipeline() dashboard {
	fill := chart("Spool filled", "How much of its room the spool takes. At its end clicks are dropped, and counted.", "percentunit",
		over("shortline:spool_fill:ratio"+here, "{{instance}}"))
	fill.steps, fill.max = []step{{"transparent", 0}, {warning, 0.6}, {bad, 0.8}}, number(1)
	ship := chart("Since a batch was taken", "Time since clicks of an edge were last acknowledged, while some are pending.", "s",
		over("shortline:ship_lag:seconds"+here, "{{instance}}"))
	ship.steps = []step{{"transparent", 0}, {warning, 60}, {bad, 600}}
	oldest := chart("Oldest pending click", "How long the oldest click on the disk of each edge has been waiting to be acknowledged. One lane that is stuck shows here and not in the time since a batch was taken.", "s",
		over("shortline_spool_oldest_pending_seconds"+here, "{{instance}}"))
	oldest.steps = []step{{"transparent", 0}, {warning, 60}, {bad, 900}}
	lag := chart("Consumer lag", "Messages that ingest has not read yet.", "short", over("sum(shortline_kafkasource_lag_messages)", "lag"))
	lag.steps = []step{{"transparent", 0}, {warning, 10000}}
	age := chart("Oldest unread", "How long the oldest message that ingest has not read has been in the topic. At the topic's retention clicks are lost.", "s",
		over("max(shortline_kafkasource_lag_seconds)", "oldest"))
	age.steps = []step{{"transparent", 0}, {warning, 600}, {bad, 3600}}
	road := chart("The road", "Clicks each second at its three stations: kept by edges, acknowledged, stored. The lines lie on each other when all is well.", "ops",
		over("sum(rate(shortline_spool_clicks_appended_total"+win+"))", "kept"), over("sum(rate(shortline_ship_clicks_total"+win+"))", "acknowledged"), over(`sum(rate(shortline_ingest_clicks_total{result="stored"}`+win+"))", "stored")).wide(24)
	alarm := func(title, about, expr string) panel {
		return stat(title, about, "short", over(expr, ""), step{good, 0}, step{bad, 1})
	}
	return dashboard{
		file: "pipeline.json", uid: "shortline-pipeline", title: "Click pipeline", text: "The road of clicks: the spool of each edge, delivery, Kafka, ingest.",
		from: "now-3h", refresh: "15s", sources: []source{metrics, clicks}, variables: regional(),
		panels: []panel{
			stat("Stored", "Clicks stored each second.", "ops", over(`sum(rate(shortline_ingest_clicks_total{result="stored"}`+win+"))", "")),
			stat("Pending", "Clicks on the disks of edges that are not acknowledged yet.", "short", over("sum(shortline_spool_clicks_pending)", ""), step{good, 0}, step{warning, 100000}),
			stat("Last stored", "Time since ingest last stored clicks.", "s", over("time() - max(shortline_ingest_last_success_timestamp_seconds > 0)", ""), step{good, 0}, step{warning, 300}),
			alarm("Dropped", "Clicks that had no room in a spool, in the range.", "sum(increase(shortline_spool_clicks_dropped_total[$__range]))"),
			alarm("Lost by disks", "Clicks that a damaged disk took, in the range.", "sum(increase(shortline_spool_clicks_lost_total[$__range]))"),
			alarm("Put aside", "Batches that were no clicks, messages that could not be read and clicks too large to send, in the range.",
				"sum(increase(shortline_ingest_refused_batches_total[$__range])) + (sum(increase(shortline_kafkasource_dead_messages_total[$__range])) or vector(0)) + (sum(increase(shortline_kafkasink_dead_clicks_total[$__range])) or vector(0))"),
			alarm("Missing", "Clicks that are neither stored nor reported as lost, though later ones of their lane are. They are ordered again from the edge that has them.", "max(shortline_audit_gap_clicks)"),
			alarm("Gone", "Missing clicks that their edge does not have any more.", "max(shortline_audit_gone_clicks)"),
			alarm("Drift", "Clicks by which reports differ from the stored clicks, in the hours that were compared.", "max(abs(shortline_audit_drift_clicks))"),
			alarm("Identity clashes", "Edges of whose identity a second process was refused within the last hour: two have the same data folder.", "max(shortline_audit_identity_clashes)"),
			alarm("Lost for want of room", "Clicks that edges report as lost, of all time.", "max(shortline_audit_lost_clicks)"),
			stat("Last audit", "Time since the road was last audited.", "s", over("time() - max(shortline_audit_last_success_timestamp_seconds > 0)", ""), step{good, 0}, step{warning, 300}),
			road, fill,
			chart("Pending clicks", "Clicks on the disk of each edge that are not acknowledged yet.", "short", over("shortline_spool_clicks_pending"+here, "{{instance}}")),
			ship, oldest,
			chart("Failed deliveries", "Deliveries that failed and are tried again, and lanes that wait for one.", "short",
				over("rate(shortline_ship_errors_total"+here+win+")", "{{instance}} errors a second"), over("shortline_ship_lanes_failing"+here, "{{instance}} lanes")),
			lag, age,
			chart("Kafka's clients", "Requests to Kafka that failed each second: of edges that deliver, of ingest that reads.", "ops",
				over("sum(rate(shortline_kafkasink_errors_total"+win+"))", "deliver"), over("sum(rate(shortline_kafkasource_errors_total"+win+"))", "read")),
			chart("Read from Kafka", "Messages and clicks read each second.", "ops",
				over("sum(rate(shortline_kafkasource_messages_total"+win+"))", "messages"), over("sum(rate(shortline_kafkasource_clicks_total"+win+"))", "clicks")),
			chart("Clicks at ingest", "Clicks stored each second, those that came again and were passed over, and those that edges report as lost.", "ops",
				over("sum by (result) (rate(shortline_ingest_clicks_total"+win+"))", "{{result}}")),
			chart("Errors", "What failed each second: inserts, setting counters, writing the spool.", "ops",
				over("sum(rate(shortline_ingest_errors_total"+win+"))", "inserts"), over("sum(rate(shortline_counters_errors_total"+win+"))", "counters"), over("sum(rate(shortline_spool_errors_total"+here+win+"))", "spool")),
			stat("Hours to sum up", "Hours, over for two hours or more, that were not summed up again since their last click came. Until they are, reports read their clicks one by one.", "short",
				question{from: clicks, text: stale}, step{good, 0}, step{warning, 24}),
			chart("Bytes shipped", "Bytes of clicks acknowledged each second.", "Bps", over("rate(shortline_ship_bytes_total"+here+win+")", "{{instance}}")),
			chart("Spool on disk", "Disk that each spool takes.", "bytes", over("shortline_spool_bytes"+here, "{{instance}}")).wide(8),
		},
	}
}

// deliveries is webhooks.
func deliveries() dashboard {
	age := chart("Oldest in the queue", "How long the oldest delivery has been waiting. A receiver that is away makes it rise for some minutes, until the delivery is given up.", "s",
		over("max(shortline_webhooks_queue_oldest_seconds)", "oldest"))
	age.steps = []step{{"transparent", 0}, {warning, 300}, {bad, 900}}
	attempts := chart("Attempts", "Attempts each second, by how they ended.", "ops", over("sum by (outcome) (rate(shortline_webhooks_attempts_total"+win+"))", "{{outcome}}"))
	attempts.stacked, attempts.colors = true, map[string]string{"success": good, "failure": bad}
	slow := func(q string) question {
		return over("histogram_quantile("+q+", sum by (le) (rate(shortline_webhooks_attempt_duration_seconds_bucket"+win+")))", "p"+q[2:])
	}
	return dashboard{
		file: "webhooks.json", uid: "shortline-webhooks", title: "Webhooks", text: "Deliveries to other systems.",
		from: "now-3h", refresh: "15s", sources: []source{metrics},
		panels: []panel{
			stat("In the queue", "Deliveries to active webhooks that are still to be made.", "short", over("max(shortline_webhooks_queue_deliveries)", ""), step{good, 0}, step{warning, 1000}),
			stat("Oldest", "How long the oldest of them has been waiting.", "s", over("max(shortline_webhooks_queue_oldest_seconds)", ""), step{good, 0}, step{warning, 300}, step{bad, 900}),
			stat("Success", "Share of attempts that succeeded.", "percentunit", over(`sum(rate(shortline_webhooks_attempts_total{outcome="success"}`+win+`)) / sum(rate(shortline_webhooks_attempts_total`+win+`))`, ""), step{bad, 0}, step{warning, 0.8}, step{good, 0.95}),
			stat("Under way", "Attempts under way.", "short", over("sum(shortline_webhooks_in_flight)", "")),
			stat("Clicks dropped", "Click events that were not delivered for want of room, in the range.", "short", over("sum(increase(shortline_webhooks_click_events_dropped_total[$__range]))", ""), step{good, 0}, step{warning, 1}),
			stat("Last turn", "Time since any replica last looked for what is due.", "s", over("time() - max(shortline_webhooks_last_success_timestamp_seconds)", ""), step{good, 0}, step{bad, 30}),
			attempts,
			chart("Duration", "How long attempts took: half, 95 % and 99 % were faster.", "s", slow("0.50"), slow("0.95"), slow("0.99")),
			chart("Queue", "Deliveries that are still to be made.", "short", over("max(shortline_webhooks_queue_deliveries)", "queue")),
			age,
			chart("Trouble with the store", "Times that the store could not be read or written.", "ops", over("sum by (instance) (rate(shortline_webhooks_errors_total"+win+"))", "{{instance}}")),
			chart("Clicks heard of", "Clicks that webhooks were told of each second, and batches that they could not note.", "ops",
				over("sum(rate(shortline_hooks_clicks_total"+win+"))", "clicks"), over("sum(rate(shortline_hooks_errors_total"+win+"))", "errors")),
		},
	}
}

// control is the API and what it stands on.
func control() dashboard {
	const route = `{instance=~"$instance"}`
	codes := chart("Requests", "API requests each second, by class of status.", "reqps", over("sum by (code) (rate(shortline_api_requests_total"+route+win+"))", "{{code}}"))
	codes.stacked, codes.colors = true, map[string]string{"2xx": good, "3xx": calm, "4xx": warning, "5xx": bad}
	slow := func(q string) question {
		return over("histogram_quantile("+q+", sum by (le) (rate(shortline_api_request_duration_seconds_bucket"+route+win+")))", "p"+q[2:])
	}
	slowest := table("Slowest routes", "Routes by the time under which 95 % of their requests were answered, in the range.", "s",
		now("topk(15, histogram_quantile(0.95, sum by (le, method, route) (rate(shortline_api_request_duration_seconds_bucket"+route+"[$__range]))) > 0)"))
	busiest := table("Busiest routes", "Routes by requests each second, in the range.", "reqps",
		now("topk(15, sum by (method, route) (rate(shortline_api_requests_total"+route+"[$__range])))"))
	pool := chart("Database connections", "Connections in use and idle, and the most that there may be.", "short",
		over("sum by (pool, state) (shortline_store_connections"+route+")", "{{pool}} {{state}}"), over("sum by (pool) (shortline_store_connections_max"+route+")", "{{pool}} most"))
	return dashboard{
		file: "control.json", uid: "shortline-control", title: "Control plane", text: "The API, its database, and how links are published.",
		from: "now-3h", refresh: "15s", sources: []source{metrics}, variables: []variable{instances("shortline_api_requests_in_flight")},
		panels: []panel{
			stat("Requests", "API requests each second.", "reqps", over("sum(rate(shortline_api_requests_total"+route+win+"))", "")),
			stat("Errors", "Share of requests that failed on our side.", "percentunit", over("shortline:api_errors:ratio_rate5m", ""), step{good, 0}, step{warning, 0.01}, step{bad, 0.05}),
			stat("95 % within", "The time under which 95 % of the requests were answered.", "s", over("shortline:api_duration_seconds:p95_5m", ""), step{good, 0}, step{warning, 0.5}, step{bad, 2}),
			stat("Under way", "API requests under way.", "short", over("sum(shortline_api_requests_in_flight"+route+")", "")),
			stat("Too many", "Requests refused for their caller's rate, in the range.", "short", over("sum(increase(shortline_api_rate_limited_total"+route+"[$__range]))", "")),
			stat("Revision", "The newest revision of the links.", "none", over("max(shortline_store_revision"+route+")", "")),
			codes,
			chart("Duration", "How long requests took: half, 95 % and 99 % were faster.", "s", slow("0.50"), slow("0.95"), slow("0.99")),
			slowest, busiest, pool,
			chart("Waiting for a connection", "Share of a second spent waiting for the database's connections, all requests together.", "percentunit",
				over("sum by (pool) (rate(shortline_store_wait_seconds_total"+route+win+"))", "{{pool}}")),
			chart("Refused by rate", "Requests refused each second, by the limit that they hit.", "reqps", over("sum by (limit) (rate(shortline_api_rate_limited_total"+route+win+"))", "{{limit}}")),
			chart("Changes of links", "Revisions each second.", "ops", over("max(deriv(shortline_store_revision"+route+"[5m]))", "changes")),
			chart("Answers to edges", "Answers each second to edges across the network, by kind and class of status.", "reqps", over("sum by (route, code) (rate(shortline_edgeapi_answers_total"+route+win+"))", "{{route}} {{code}}")),
			chart("Edges that wait", "Edges that wait for changes, and full documents that are being sent.", "short",
				over("sum(shortline_publish_held_requests"+route+")", "waiting"), over("sum(shortline_edgeapi_snapshots_sending"+route+")", "documents")),
			chart("Full documents", "Seconds spent building full documents each second, and builds that failed.", "short",
				over("sum(rate(shortline_publish_documents_seconds_total"+route+win+"))", "seconds"), over("sum(rate(shortline_publish_errors_total"+route+win+"))", "failed")),
			chart("Memory", "Memory of the process.", "bytes", over("process_resident_memory_bytes"+route, "{{instance}}")),
			chart("Remembered reports", "Reports asked for each second: remembered, not remembered, or remembered and out of date.", "reqps",
				over("sum by (result) (rate(shortline_report_cache_lookups_total"+route+win+"))", "{{result}}")),
		},
	}
}
