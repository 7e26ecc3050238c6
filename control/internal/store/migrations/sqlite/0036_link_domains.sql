-- +goose Up
-- The domain of every link that was ever made on a custom domain. Rows stay when links are deleted, because the click store
-- keeps their clicks, and reports by domain count them. Links that are not here are on the default domain.
CREATE TABLE link_domains (
	link_num      INTEGER NOT NULL PRIMARY KEY,
	domain_num    INTEGER NOT NULL,
	workspace_num INTEGER NOT NULL
);
CREATE INDEX link_domains_domain ON link_domains (workspace_num, domain_num, link_num);
CREATE INDEX link_domains_links ON link_domains (domain_num, link_num);
INSERT INTO link_domains (link_num, domain_num, workspace_num) SELECT num, domain_num, workspace_num FROM urls WHERE domain_num IS NOT NULL AND workspace_num IS NOT NULL;
-- The domain of a slug that does not exist; 0: the default one. The column slug has the key that a link would have.
ALTER TABLE missing_slugs ADD COLUMN domain_num INTEGER NOT NULL DEFAULT 0;
-- The host name of a reported link; NULL: that of the service. It is kept after the link was deleted.
ALTER TABLE abuse_cases ADD COLUMN hostname TEXT;
