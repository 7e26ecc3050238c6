package main

// programs selects the targets of this service, in compose and in the chart.
const programs = `{job=~"(.+-)?shortline-.*"}`

// none is added to counts: a metric that an installation does not have is no problem.
const none = " or vector(0)"

// health answers one question with metrics only, so it serves standalone as well as fleets.
func health() dashboard {
	return dashboard{
		file: "health.json", uid: "shortline-health", title: "Is it healthy?",
		text: "Green means that nothing needs attention. It needs Prometheus only, and serves standalone and fleets.",
		from: "now-6h", refresh: "30s", sources: []source{metrics},
		panels: append(verdicts(), healthCharts()...),
	}
}

// verdicts are the coloured numbers. Each turns orange or red where an alert would fire.
func verdicts() []panel {
	count := func(title, about, expr string) panel {
		return stat(title, about, "short", over(expr, ""), step{good, 0}, step{bad, 1})
	}
	age := func(title, about, expr string, orange, red float64) panel {
		return stat(title, about, "s", over(expr, ""), step{good, 0}, step{warning, orange}, step{bad, red})
	}
	share := func(title, about, expr string, orange, red float64) panel {
		return stat(title, about, "percentunit", over(expr, ""), step{good, 0}, step{warning, orange}, step{bad, red})
	}
	ready := stat("Edges ready", "Share of edges that have links to serve.", "percentunit", over("avg(shortline_edge_ready)", ""),
		step{bad, 0}, step{warning, 0.5}, step{good, 1})
	ends := stat("First certificate ends", "Time until the first certificate ends.", "s",
		over("min(shortline_certificate_expiry_timestamp_seconds > 0) - time()", ""),
		step{bad, 0}, step{warning, 7 * 86400}, step{good, 14 * 86400})
	return []panel{
		count("Act now", "Alerts with the severity page that fire.",
			`count(ALERTS{alertname=~"Shortline.*",alertstate="firing",severity="page"})`+none),
		stat("Act within a day", "Alerts with the severity ticket that fire.", "short",
			over(`count(ALERTS{alertname=~"Shortline.*",alertstate="firing",severity="ticket"})`+none, ""),
			step{good, 0}, step{warning, 1}),
		count("Programs down", "Targets of Prometheus that do not answer.", "count(up"+programs+" == 0)"+none),
		ready, share("Errors", "Share of the edges' answers with a 5xx status in an hour. The objective is 0.1 %.",
			"shortline:edge_errors:ratio_rate1h", 0.001, 0.0144),
		share("Slow redirects", "Share of redirects that took longer than 25 ms in an hour. The objective is 1 %.",
			"shortline:edge_slow_redirects:ratio_rate1h", 0.01, 0.144),

		count("Clicks lost", "Clicks that were dropped or lost by a disk, in the time range.",
			"sum(increase(shortline_spool_clicks_dropped_total[$__range])) + sum(increase(shortline_spool_clicks_lost_total[$__range]))"+
				none),
		age("Oldest pending click", "Age of the oldest click that is not delivered.",
			"max(shortline_spool_oldest_pending_seconds)", 60, 900),
		count("Clicks missing", "Clicks that are neither stored nor reported as lost.",
			"max(shortline_audit_gap_clicks) + max(shortline_audit_gone_clicks)"+none),
		count("Shards down", "Shards of the click store that are down. Standalone has none.",
			"count(min by (shard) (shortline_click_shard_up) == 0)"+none),
		stat("Rollups behind", "Quarter hours whose rollups are out of date. Reports read their clicks instead, which is slow.", "short",
			over("max(shortline_rollup_waiting_slots)", ""), step{good, 0}, step{warning, 96}),
		share("API errors", "Share of API requests with a 5xx status.", "shortline:api_errors:ratio_rate5m", 0.01, 0.05),

		share("Disk used", "Used share of the fullest disk.",
			"max(1 - shortline_disk_free_bytes / shortline_disk_size_bytes or "+
				"1 - shortline_clickhouse_disk_free_bytes / shortline_clickhouse_disk_size_bytes)", 0.85, 0.95),
		share("Memory used", "Share of the memory that a process may use, of the process with the least left.",
			"max(process_resident_memory_bytes / (shortline_memory_limit_bytes > 0))", 0.85, 0.95),
		count("Names without a certificate", "Host names of the service, and domains that lead to edges, without a certificate.",
			"sum(max by (of) (shortline_certificates_missing))"+none),
		ends,
		age("Oldest e-mail", "Time that the oldest e-mail has waited.", "max(shortline_mail_oldest_waiting_seconds)", 300, 900),
		age("Clock skew", "Largest difference between the clocks of the service.",
			"max(abs(shortline_agent_clock_ahead_seconds) or abs(shortline_control_clock_ahead_seconds))", 1, 2),
	}
}

func healthCharts() []panel {
	firing := table("Firing alerts", "Each alert has a page in docs/operators/alerts of the repository.", "short",
		now(`sort_desc(count by (severity, alertname, instance) (ALERTS{alertname=~"Shortline.*",alertstate="firing"}))`)).wide(24)
	firing.hide = []string{"Value"}
	disk := chart("Free disk", "Free share of the disks of the data folder, of the spool and of ClickHouse.", "percentunit",
		over("shortline_disk_free_bytes / shortline_disk_size_bytes", "{{instance}} {{folder}}"),
		over("min by (shard, disk) (shortline_clickhouse_disk_free_bytes / shortline_clickhouse_disk_size_bytes)",
			"ClickHouse {{shard}} {{disk}}"))
	disk.steps = []step{{bad, 0}, {warning, 0.05}, {"transparent", 0.15}}
	memory := chart("Memory", "Share of the memory that each process may use.", "percentunit",
		over("process_resident_memory_bytes / (shortline_memory_limit_bytes > 0)", "{{instance}}"))
	memory.steps = []step{{"transparent", 0}, {warning, 0.85}}
	clocks := chart("Clock skew", "Offset of each edge to its control plane, and of each control plane to its database and click stores.",
		"s", over("shortline_agent_clock_ahead_seconds", "{{instance}}"),
		over("shortline_control_clock_ahead_seconds", "{{instance}} to {{server}}"))
	return []panel{
		firing,
		chart("Answers", "Answered requests per second, by outcome.",
			"reqps", over("sum by (outcome) (rate(shortline_edge_answers_total"+win+"))", "{{outcome}}")),
		chart("Clicks", "Clicks per second: written to the spool, delivered, stored.", "ops",
			over("sum(rate(shortline_spool_clicks_appended_total"+win+"))", "spooled"),
			over("sum(rate(shortline_ship_clicks_total"+win+"))", "delivered"),
			over(`sum(rate(shortline_ingest_clicks_total{result="stored"}`+win+"))", "stored")),
		disk, memory,
		chart("Shards", "Whether each shard of the click store is up.", "bool_on_off",
			over("min by (shard) (shortline_click_shard_up)", "{{shard}}")),
		chart("Rollups behind", "Quarter hours whose rollups are out of date; failed rebuilds, and rebuilt quarter hours, per second.",
			"short",
			over("max by (instance) (shortline_rollup_waiting_slots)", "{{instance}}"),
			over("sum(rate(shortline_rollup_errors_total"+win+"))", "errors per second"),
			over("sum(rate(shortline_rollup_rebuilt_slots_total"+win+"))", "rebuilt per second")),
		chart("TLS handshakes", "Complete handshakes per second, those that were not completed by reason, and clients that owe a message.",
			"short", over("sum(rate(shortline_edge_tls_handshakes_total"+win+"))", "complete"),
			over("sum by (reason) (rate(shortline_edge_tls_rejected_total"+win+"))", "{{reason}}"),
			over("sum(shortline_edge_tls_unanswered)", "unanswered")),
		chart("Certificates", "Certificates by status, names without one, overdue renewals.", "short",
			over("max by (status) (shortline_certificates)", "{{status}}"),
			over("max by (of) (shortline_certificates_missing)", "missing, {{of}}"),
			over("max(shortline_certificates_overdue)", "overdue")),
		chart("Orders of certificates", "Orders in an hour, by outcome, and questions of certificate authorities that edges answered.",
			"short", over("sum by (outcome) (increase(shortline_certificate_orders_total[1h]))", "{{outcome}}"),
			over("sum(increase(shortline_edge_tls_challenges_total[1h]))", "questions")),
		chart("E-mail", "E-mails that wait, and those sent and given up per second.", "short",
			over("max(shortline_mail_waiting)", "waiting"), over("sum(rate(shortline_mail_sent_total"+win+"))", "sent per second"),
			over("sum(rate(shortline_mail_failed_total"+win+"))", "given up per second"),
			over("sum(rate(shortline_alert_messages_lost_total"+win+"))", "messages about alerts given up per second")),
		clocks,
		chart("Documents rejected", "Documents and changes that edges rejected, per second.",
			"ops", over("sum by (instance) (rate(shortline_agent_refused_total"+win+"))", "{{instance}}")),
	}
}
