//go:build linux

package main

import (
	"fmt"
)

// clickCount is the number of clicks that an edge's spool has stored and dropped.
type clickCount struct{ Appended, Dropped uint64 }

// accounts returns an error unless the child has stored exactly one click for each of its redirects.
func (c *child) accounts(redirects uint64) error {
	var stored clickCount
	if err := c.askJSON("clicks", &stored); err != nil {
		return err
	}
	if stored.Dropped > 0 || stored.Appended != redirects {
		return fmt.Errorf("%s redirected %d requests, but stored %d clicks and dropped %d", c.role, redirects, stored.Appended,
			stored.Dropped)
	}
	return nil
}
