package conversions

import (
	"github.com/shortline/shortline/shared/conversion"
)

// Take checks the conversions that a browser sends for a workspace and stores those that are good. It returns a problem for
// each item, nil for an accepted one. The verdict of an item that this edge accepted a short time ago is Duplicate. The error
// is ErrFull, after which the sender must send everything again.
func (r *Pipeline) Take(check conversion.Checker, workspace uint64, items []conversion.Item) ([]*conversion.Problem, error) {
	problems := make([]*conversion.Problem, len(items))
	accepted := make([]conversion.Conversion, 0, len(items))
	keys := make([]uint64, 0, len(items))
	within := make(map[uint64]bool, len(items)) // this request
	for i := range items {
		c, problem := check.Check(&items[i])
		if problems[i] = problem; problem != nil {
			continue
		}
		key := r.recent.key(&c)
		if within[key] || r.recent.has(key) {
			problems[i] = &conversion.Problem{Verdict: conversion.Duplicate, Message: "was accepted before"}
			continue
		}
		within[key] = true
		c.Workspace, c.Browser = workspace, true
		accepted, keys = append(accepted, c), append(keys, key)
	}
	if err := r.Append(accepted); err != nil {
		return nil, err
	}
	for _, key := range keys { // only now, because a sender who was refused comes again
		r.recent.remember(key)
	}
	return problems, nil
}
