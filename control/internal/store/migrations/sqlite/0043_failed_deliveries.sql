-- +goose Up
-- Lists of failed deliveries, and their repetition, do not read the deliveries that succeeded.
CREATE INDEX webhook_logs_failed ON webhook_logs (webhook_id, sent_at, id) WHERE NOT success;
