// Package e2e runs a whole installation as its operator has it: the settings of docker-compose.yml with its addresses
// replaced, secrets of deploy/make-secrets, PostgreSQL, Apache's Kafka, ClickHouse's engine, two control planes behind
// one name, and three edges.
//
// It owns the story of an installation, from the first migration to the restart of each part, and judges by counts:
// every answered redirect is stored once. What each fault does by itself is for the experiments of package harness;
// whether something is fast is for the benchmarks, and only printed here.
//
// There is nothing in it but tests: go test ./e2e, with DUR for how long edges are alone and links change.
package e2e
