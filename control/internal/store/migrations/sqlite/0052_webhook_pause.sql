-- +goose Up
-- Why the service paused a webhook: MEMBER_REMOVED, USER_DELETED or API_KEY_DELETED. NULL: it is active, or a person disabled it, or it
-- was paused before this migration.
ALTER TABLE webhooks ADD COLUMN pause_reason TEXT;
