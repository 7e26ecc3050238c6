package sharded

// JoinVisitors makes stores join about n visitors at a time. Tests that call it do not run in parallel.
func JoinVisitors(n int64) { visitorsAtOnce = n }

// CountExactly sets up to how many distinct visitors of several shards are counted exactly.
func (s *Store) CountExactly(n int64) { s.exact = n }
