-- +goose Up
-- gone_hosts now has every name that a workspace has added and that is not in service. Edges answer nobody's links there while a
-- domain has the name, or the name is reserved. Programs of the previous release add names without the new columns.
ALTER TABLE gone_hosts ADD COLUMN reserved_until INTEGER; -- Unix milliseconds; 0: not reserved; NULL: reserved, and the end is set later
ALTER TABLE gone_hosts ADD COLUMN holder INTEGER; -- the workspace whose domain was deleted, the only one that may add the name again; NULL: any
ALTER TABLE gone_hosts ADD COLUMN looked_at INTEGER NOT NULL DEFAULT 0; -- when DNS was last asked where a reserved name leads
INSERT INTO gone_hosts (hostname, revision) SELECT DISTINCT hostname, 0 FROM domains d WHERE status <> 'ACTIVE'
	AND NOT EXISTS (SELECT 1 FROM domains a WHERE a.hostname = d.hostname AND a.status = 'ACTIVE') ON CONFLICT (hostname) DO NOTHING;
