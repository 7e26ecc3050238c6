-- +goose NO TRANSACTION
-- +goose Up
-- Lists of failed deliveries, and their repetition, do not read the deliveries that succeeded. The index is built while programs of
-- the previous release write to the log. An interrupted migration leaves an invalid index and starts again.
SET statement_timeout = 0;
SET lock_timeout = 0; -- the statements wait for other transactions without blocking anybody
DROP INDEX CONCURRENTLY IF EXISTS webhook_logs_failed;
CREATE INDEX CONCURRENTLY webhook_logs_failed ON webhook_logs (webhook_id, sent_at, id) WHERE NOT success;
SET lock_timeout = '400ms'; -- as for other migrations
