package main

// conversions covers the path of conversions to the click store, and the experiments that are decided by them.
func conversions() dashboard {
	const group = `{group=~".*conversions"}`
	oldest := chart("Oldest pending conversion",
		"Age of the oldest conversion on the disk of each edge, and of standalone, that is not acknowledged.", "s",
		over("shortline_conversion_spool_oldest_pending_seconds"+here, "{{instance}}"))
	oldest.steps = []step{{"transparent", 0}, {warning, 60}, {bad, 900}}
	fill := chart("Spool usage", "Used share of the spool of conversions. Conversions are refused with 503 while it is full.",
		"percentunit",
		over("shortline_conversion_spool_bytes"+here+" / (shortline_conversion_spool_cap_bytes"+here+" > 0)", "{{instance}}"))
	fill.steps, fill.max = []step{{"transparent", 0}, {warning, 0.6}, {bad, 0.8}}, number(1)
	lag := chart("Consumer lag", "Messages of the topic of conversions that ingest has not read yet.", "short",
		over("sum(shortline_kafkasource_lag_messages"+group+")", "lag"))
	lag.steps = []step{{"transparent", 0}, {warning, 10000}}
	age := chart("Oldest unread message",
		"Age of the oldest message in the topic of conversions that ingest has not read. Experiments wait above five minutes.", "s",
		over("max(shortline_kafkasource_lag_seconds"+group+")", "oldest"))
	age.steps = []step{{"transparent", 0}, {warning, 300}, {bad, 3600}}
	unchecked := chart("Time since last check",
		"Time since the running experiment that was checked longest ago was checked. It stays below EXPERIMENT_EVERY while a process has the "+
			"role experiments.", "s",
		over("max(shortline_experiments_unchecked_seconds)", "longest"))
	unchecked.steps = []step{{"transparent", 0}, {warning, 600}, {bad, 900}}
	return dashboard{
		file: "conversions.json", uid: "shortline-conversions", title: "Conversions",
		text: "Conversions on their way to the click store, and the autopilot of experiments.",
		from: "now-3h", refresh: "15s", sources: []source{metrics}, variables: []variable{instances("shortline_conversion_spool_pending")},
		panels: []panel{
			stat("Stored", "Conversions stored per second.", "ops",
				over(`sum(rate(shortline_conversions_total{result="stored"}`+win+"))", "")),
			stat("Pending", "Conversions on the disks of all edges that are not acknowledged.", "short",
				over("sum(shortline_conversion_spool_pending)", ""), step{good, 0}, step{warning, 1000}),
			stat("Without a click", "Stored conversions whose click has not arrived. Ingest searches for seven days.", "short",
				over("max(shortline_conversions_pending)", ""), step{good, 0}, step{warning, 1000}),
			stat("Refused", "Requests and conversions that got 503 in the time range.", "short",
				over("(sum(increase(shortline_conversions_queue_errors_total[$__range])) or vector(0)) + "+
					"(sum(increase(shortline_conversion_spool_refused_total[$__range])) or vector(0))", ""), step{good, 0}, step{bad, 1}),
			stat("Running experiments", "Experiments of all links that are not decided.", "short",
				over("max(shortline_experiments_running)", "")),
			stat("Waiting experiments",
				"Running experiments that the autopilot does not decide at present, because of their link or because data are late.",
				"short", over("max(shortline_experiments_paused)", ""), step{good, 0}, step{warning, 1}),
			chart("Sent to the API", "Conversions that shops sent to the API per second, by verdict.", "ops",
				over("sum by (verdict) (rate(shortline_conversions_requested_total"+win+"))", "{{verdict}}")),
			chart("Sent by browsers", "Conversions that browsers sent to edges per second: accepted, or with another verdict.", "ops",
				over("sum(rate(shortline_edge_conversions_accepted_total"+here+win+"))", "accepted"),
				over("sum(rate(shortline_edge_conversions_rejected_total"+here+win+"))", "other")),
			chart("Conversions at ingest", "Conversions per second by result.", "ops",
				over("sum by (result) (rate(shortline_conversions_total"+win+"))", "{{result}}")),
			chart("At edges", "Conversions per second that edges wrote to their spools.", "ops",
				over("sum(rate(shortline_conversion_spool_appended_total"+here+win+"))", "spooled")),
			chart("Late clicks",
				"Conversions per second that were attributed after they had been stored, and those whose click never came.", "ops",
				over("sum(rate(shortline_conversions_attributed_total"+win+"))", "attributed"),
				over("sum(rate(shortline_conversions_expired_total"+win+"))", "given up")),
			chart("Pending conversions", "Conversions on the disk of each edge that are not acknowledged.", "short",
				over("shortline_conversion_spool_pending"+here, "{{instance}}")),
			oldest, fill,
			chart("Visits without a click id",
				"Visits of links with conversion tracking per second that got no click id, so that their conversions cannot be counted.",
				"ops", over("sum(rate(shortline_edge_click_ids_missing_total"+here+win+"))", "visits")),
			lag, age,
			chart("Errors", "Failures per second: deliveries of edges, writes of their spools, requests of the API, inserts.", "ops",
				over("sum(rate(shortline_conversion_ship_errors_total"+here+win+"))", "deliveries"),
				over("sum(rate(shortline_conversion_spool_errors_total"+here+win+"))", "spool"),
				over("sum(rate(shortline_conversions_queue_errors_total"+win+"))", "API"),
				over("sum(rate(shortline_conversions_errors_total"+win+"))",
					"inserts")),
			chart("Checks of experiments", "Checks per second, and those that failed.", "ops",
				over("sum(rate(shortline_experiment_checks_total"+win+"))", "checks"),
				over("sum(rate(shortline_experiment_check_failures_total"+win+"))", "failed")),
			unchecked,
			chart("Decisions and weights", "Experiments that the autopilot ended, and sets of weights that it applied, per hour.", "short",
				over("sum(increase(shortline_experiment_decisions_total[1h]))", "decisions"),
				over("sum(increase(shortline_experiment_weights_total[1h]))", "weights")),
			chart("Experiments", "Running experiments, and those of them that wait.", "short",
				over("max(shortline_experiments_running)", "running"),
				over("max(shortline_experiments_paused)", "waiting")),
		},
	}
}
