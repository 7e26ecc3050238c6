package analytics_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/conversion"
)

// Receivers of webhooks recognise a conversion by its id, so the id of a key never changes.
func TestConversionKey_ID(t *testing.T) {
	t.Parallel()
	k := analytics.ConversionKey{Click: conversion.ClickID{Link: 5, Time: 1_795_000_000_123, Tag: 77}, Name: "purchase"}
	if got, want := k.ID(), "13f54ff0-adf7-5f91-9808-63659e45962c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	ids := map[string]bool{k.ID(): true}
	for _, change := range []func(k *analytics.ConversionKey){
		func(k *analytics.ConversionKey) { k.Click.Link++ }, func(k *analytics.ConversionKey) { k.Click.Time++ },
		func(k *analytics.ConversionKey) { k.Click.Tag++ },
		func(k *analytics.ConversionKey) { k.Name = "signup" }, func(k *analytics.ConversionKey) { k.Once = "1" },
	} {
		other := k
		change(&other)
		if ids[other.ID()] {
			t.Errorf("%+v has the id of another key", other)
		}
		ids[other.ID()] = true
	}
}
