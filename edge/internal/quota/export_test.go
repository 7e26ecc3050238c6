package quota

// Sweep runs a sweep now.
func (t *Table) Sweep() { t.sweep() }
