-- +goose Up
-- How long a webhook has been failing. Programs of the previous release do not change the columns, so readers ignore them while the last
-- attempt succeeded.
ALTER TABLE webhooks ADD COLUMN failure_streak BIGINT NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN failing_since BIGINT;

-- The log is kept for 30 days. A webhook that never succeeded has more failures than that.
UPDATE webhooks SET
	failure_streak = CASE WHEN succeeded = 0 THEN failed ELSE (SELECT count(*) FROM webhook_logs l WHERE l.webhook_id = webhooks.id AND NOT l.success AND l.sent_at >
		coalesce((SELECT max(s.sent_at) FROM webhook_logs s WHERE s.webhook_id = webhooks.id AND s.success), 0)) END,
	failing_since = (SELECT min(l.sent_at) FROM webhook_logs l WHERE l.webhook_id = webhooks.id AND NOT l.success AND l.sent_at >
		coalesce((SELECT max(s.sent_at) FROM webhook_logs s WHERE s.webhook_id = webhooks.id AND s.success), 0))
WHERE last_error IS NOT NULL;
