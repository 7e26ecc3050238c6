-- +goose Up
-- FALSE: nobody has proven that the address belongs to the user. Identity providers do not link such accounts by it.
-- This locks users before workspaces, as a program of the previous release does that creates a user. The other order could
-- deadlock.
ALTER TABLE users ADD COLUMN email_verified BOOLEAN NOT NULL DEFAULT TRUE;

-- Invitations to workspaces. Rows stay for a while after they were accepted or revoked, so that their links can say why
-- they do not work. Programs of the previous release do not know the table.
CREATE TABLE invitations (
	id            TEXT   PRIMARY KEY,
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	email         TEXT   NOT NULL,
	email_key     TEXT   NOT NULL,
	role          TEXT   NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'EDITOR', 'VIEWER')),
	invited_by    TEXT   REFERENCES users (id) ON DELETE SET NULL,
	shown_hash    TEXT   NOT NULL UNIQUE, -- SHA-256 of the token in the link that is shown to copy
	mailed_hash   TEXT   UNIQUE,          -- of another token in the link that was sent by e-mail; NULL: none was
	state         TEXT   NOT NULL CHECK (state IN ('PENDING', 'ACCEPTED', 'REVOKED')),
	created_at    BIGINT NOT NULL,
	expires_at    BIGINT NOT NULL
);
CREATE INDEX invitations_workspace ON invitations (workspace_num, created_at);
CREATE INDEX invitations_inviter ON invitations (invited_by);
CREATE INDEX invitations_expires ON invitations (expires_at);
