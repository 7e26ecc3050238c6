package sharded

// JoinVisitors makes stores join about n visitors at a time. Tests that call it do not run in parallel.
func JoinVisitors(n int64) { visitorsAtOnce = n }
