package shards

import "time"

// Poll sets how often a directory looks at the database.
func (d *Directory) Poll(every time.Duration) { d.Group[0].Every = every }

// Hurry sets how long a mover waits between two looks at the same thing. It also records often that it runs a move.
func (m *Mover) Hurry(pause time.Duration) { m.pause, m.beats = pause, 50*time.Millisecond }

// Beat sets how often a mover records that it runs a move.
func (m *Mover) Beat(every time.Duration) { m.beats = every }

// Lapse ends the lease of a directory, as if the process could not reach the database for longer.
func (d *Directory) Lapse() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lease = time.Now().Add(-time.Nanosecond)
	d.lapse(time.Now())
}
