package webhooks_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var _ convert.Observer = (*webhooks.Service)(nil)

// A conversion is delivered once, however often it is noted, and only to webhooks that subscribe.
func TestConversions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u, _ := w.clickable("slug")
		hook, other := w.add("/conversions", webhooks.ConversionCreated), w.add("/clicks", webhooks.URLClicked)
		w.run()
		const variant = "01970000-0000-7000-8000-000000000001"
		c := analytics.Conversion{
			Conversion: conversion.Conversion{
				Click: conversion.ClickID{Link: u.Num, Time: 1_795_000_000_123, Tag: 1}, Name: "purchase", Value: 499_000, Currency: "EUR",
				ExternalID: "order-1", OccurredAt: 1_795_000_060_000,
			},
			Row: analytics.Row{Link: u.Num, Variant: link.ID(uuid.MustParse(variant))}, Attributed: true,
		}
		gone := c
		gone.Click.Link = 999
		for range 2 {
			testkit.Must(t, w.service.NoteConversions(t.Context(), []analytics.Conversion{c, gone, c}))
		}
		testkit.Eventually(t, "a delivery", func() bool { return len(w.log(hook.ID)) == 1 })
		testkit.Must(t, w.service.NoteConversions(t.Context(), []analytics.Conversion{c}))
		sent := w.at("")
		want := `"data":{"id":"` + c.Key().ID() + `","urlId":"` + u.ID +
			`","slug":"slug","name":"purchase","value":49.9,"currency":"EUR","externalId":"order-1",` +
			`"occurredAt":"2026-11-18T11:07:40.000Z","clickedAt":"2026-11-18T11:06:40.123Z","variantId":"` + variant + `","ruleId":null,`
		if len(sent) != 1 || !strings.Contains(sent[0].body, want) || len(w.log(other.ID)) != 0 {
			t.Errorf("sent %+v, want %s", sent, want)
		}
	})
}
