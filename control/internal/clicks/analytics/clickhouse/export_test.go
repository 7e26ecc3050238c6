package clickhouse

// Sweep is what Run does once an hour.
var Sweep = (*Store).sweep
