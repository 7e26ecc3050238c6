-- +goose Up
-- While the secret of a webhook is rotated, its old one signs deliveries too.
ALTER TABLE webhooks ADD COLUMN old_secret TEXT;          -- encrypted; NULL: there is none
ALTER TABLE webhooks ADD COLUMN old_secret_until BIGINT;  -- from then on, the old secret signs nothing; Unix milliseconds
ALTER TABLE webhooks ADD COLUMN long_retries BOOLEAN NOT NULL DEFAULT FALSE; -- failed deliveries are attempted for three days
