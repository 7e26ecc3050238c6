-- +goose Up
-- The API key with which something was made; NULL: made in a session, or by a program of the previous release. The key may be
-- deleted.
ALTER TABLE api_keys ADD COLUMN made_by_key TEXT;
ALTER TABLE users ADD COLUMN made_by_key TEXT;
ALTER TABLE invitations ADD COLUMN made_by_key TEXT;
ALTER TABLE webhooks ADD COLUMN made_by_key TEXT;
CREATE INDEX api_keys_made_by_key ON api_keys (made_by_key) WHERE made_by_key IS NOT NULL;
CREATE INDEX users_made_by_key ON users (made_by_key) WHERE made_by_key IS NOT NULL;
CREATE INDEX invitations_made_by_key ON invitations (made_by_key) WHERE made_by_key IS NOT NULL;
CREATE INDEX webhooks_made_by_key ON webhooks (made_by_key) WHERE made_by_key IS NOT NULL;
CREATE INDEX invitations_email ON invitations (email_key, created_at);

-- Addresses of deleted links that were suspended. Only the same link can have such an address again, from the trash, until an
-- administrator releases the address. The triggers also hold for programs of the previous release: to them, the slug is taken.
CREATE TABLE suspended_slugs (
	slug     TEXT   COLLATE "C" PRIMARY KEY, -- as in urls
	link_num BIGINT NOT NULL
);
-- +goose StatementBegin
CREATE FUNCTION urls_keep_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO suspended_slugs (slug, link_num) VALUES (OLD.slug, OLD.num) ON CONFLICT (slug) DO UPDATE SET link_num = excluded.link_num;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_keep_suspended AFTER DELETE ON urls FOR EACH ROW WHEN (OLD.suspended_at IS NOT NULL) EXECUTE FUNCTION urls_keep_suspended();
-- +goose StatementBegin
CREATE FUNCTION urls_refuse_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM suspended_slugs s WHERE s.slug = NEW.slug AND s.link_num <> NEW.num) THEN
		RETURN NULL;
	END IF;
	RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_refuse_suspended BEFORE INSERT ON urls FOR EACH ROW EXECUTE FUNCTION urls_refuse_suspended();
-- +goose StatementBegin
CREATE FUNCTION urls_release_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM suspended_slugs WHERE link_num = NEW.num;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_release_suspended AFTER UPDATE OF suspended_at ON urls FOR EACH ROW WHEN (OLD.suspended_at IS NOT NULL AND NEW.suspended_at IS NULL) EXECUTE FUNCTION urls_release_suspended();
