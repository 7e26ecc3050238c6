package clickhouse

// Sweep does what Run does once an hour.
var Sweep = (*Store).sweep
