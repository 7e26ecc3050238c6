package webhooks_test

import (
	"fmt"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testkit"
)

func eachDialect(b *testing.B, f func(b *testing.B, w *world)) {
	b.Run("sqlite", func(b *testing.B) { f(b, newWorld(b, storetest.Open(b), nil)) })
	b.Run("postgres", func(b *testing.B) { f(b, newWorld(b, storetest.OpenPostgres(b), nil)) })
}

// Measures the cost of webhooks for a change, in an otherwise empty transaction.
func BenchmarkEmit(b *testing.B) {
	for _, hooks := range []int{0, 1} {
		b.Run(fmt.Sprintf("hooks=%d", hooks), func(b *testing.B) {
			eachDialect(b, func(b *testing.B, w *world) {
				for range hooks {
					w.add("/hook", webhooks.URLCreated)
				}
				for b.Loop() {
					w.emit(webhooks.URLCreated, "data")
				}
			})
		})
	}
}

// Measures Note with a thousand clicks, and no or one subscribed webhook.
func BenchmarkNote(b *testing.B) {
	for _, hooks := range []int{0, 1} {
		b.Run(fmt.Sprintf("hooks=%d", hooks), func(b *testing.B) {
			eachDialect(b, func(b *testing.B, w *world) {
				u, _ := w.clickable("slug")
				for range hooks {
					w.add("/hook", webhooks.URLClicked)
				}
				var seq uint64
				for b.Loop() {
					rows := make([]analytics.Row, 1000)
					for i := range rows {
						seq++
						rows[i] = w.row(u, seq)
					}
					must(b, w.service.Note(b.Context(), rows))
				}
			})
		})
	}
}

// Measures deliveries to receivers that respond immediately.
func BenchmarkDeliver(b *testing.B) {
	for _, hooks := range []int{1, 20} {
		b.Run(fmt.Sprintf("hooks=%d", hooks), func(b *testing.B) {
			eachDialect(b, func(b *testing.B, w *world) {
				for i := range hooks {
					w.add(fmt.Sprint("/", i), webhooks.URLCreated)
				}
				const each = 50
				data := make([]any, each)
				w.run()
				n := 0
				for b.Loop() {
					w.emit(webhooks.URLCreated, data...)
					n += each * hooks
					testkit.Eventually(b, "deliveries", func() bool {
						var left int
						must(b, w.store.Row(b.Context(), `SELECT count(*) FROM webhook_deliveries`).Scan(&left))
						return left == 0
					})
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "deliveries/s")
			})
		})
	}
}
