package main

// loadTest shows a run of a script in deploy/k6 beside the edges that it loads. k6 sends its figures to Prometheus itself.
func loadTest() dashboard {
	return dashboard{
		file: "load.json", uid: "shortline-load", title: "Load test",
		text: "A run of k6, by kind of user. k6 writes these figures; deploy/k6/README.md says how to send them.",
		from: "now-15m", refresh: "5s", sources: []source{metrics},
		panels: append([]panel{
			stat("Requests", "Requests of all users per second.", "reqps", over("sum(rate(k6_http_reqs_total"+win+"))", "")),
			stat("Failed requests", "Share of requests with a status that their user does not expect.", "percentunit",
				over("avg(k6_http_req_failed_rate)", ""), step{good, 0}, step{bad, 0.0001}),
			stat("Checks", "Share of answers that are right. The scripts demand 99.99 %.", "percentunit",
				over("avg(k6_checks_rate)", ""), step{bad, 0}, step{good, 0.9999}),
			stat("Not started", "Arrivals in the time range that k6 dropped, because all its users still waited.", "short",
				over("sum(increase(k6_dropped_iterations_total[$__range]))"+none, ""), step{good, 0}, step{bad, 1}),
			stat("Users of k6", "Virtual users that are active. A steep rise means that answers have become slow.", "short",
				over("sum(k6_vus)", "")),
			stat("CPU of programs", "Processors that all programs of this service use.", "short",
				over("sum(rate(process_cpu_seconds_total"+programs+win+"))", "")),
		}, loadCharts()...),
	}
}

func loadCharts() []panel {
	return []panel{
		chart("Requests by kind", "Requests per second of each kind of user.", "reqps",
			over("sum by (kind) (rate(k6_http_reqs_total"+win+"))", "{{kind}}")),
		chart("95 % within", "Time within which k6 had 95 % of the answers, since the run began.", "s",
			over("max by (kind) (k6_http_req_duration_p95)", "{{kind}}")),
		chart("99 % within", "Time within which k6 had 99 % of the answers, since the run began.", "s",
			over("max by (kind) (k6_http_req_duration_p99)", "{{kind}}")),
		chart("Wrong answers", "Share of answers that fail a check, by check.", "percentunit",
			over("1 - min by (check) (k6_checks_rate)", "{{check}}")),
		chart("Answers of edges", "What the edges counted meanwhile, per second, by outcome.", "reqps",
			over("sum by (outcome) (rate(shortline_edge_answers_total"+win+"))", "{{outcome}}")),
		chart("Processors", "Processors that each program uses. The one that reaches its number first is the limit.", "short",
			over("rate(process_cpu_seconds_total"+programs+win+")", "{{instance}}")),
		chart("Memory", "Memory of each program.", "bytes", over("process_resident_memory_bytes"+programs, "{{instance}}")),
		chart("Clicks", "Clicks per second: written to the spool, and delivered. A gap that grows means that delivery is too slow.", "ops",
			over("sum(rate(shortline_spool_clicks_appended_total"+win+"))", "spooled"),
			over("sum(rate(shortline_ship_clicks_total"+win+"))", "delivered")),
	}
}
