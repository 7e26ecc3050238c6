-- Creates a role for dashboards. It can read the names of links, but no secrets. It is safe to run again; do so after a
-- migration that adds columns for dashboards. psql gets the password in the variable "password".
SELECT 'CREATE ROLE grafana' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana') \gexec
ALTER ROLE grafana LOGIN PASSWORD :'password' CONNECTION LIMIT 10;
ALTER ROLE grafana SET default_transaction_read_only = on;
ALTER ROLE grafana SET statement_timeout = '10s';
GRANT USAGE ON SCHEMA public TO grafana;
GRANT SELECT (id, num, slug, title, user_id, active, created_at, expires_at, click_count) ON urls TO grafana;
GRANT SELECT (id, url_id, name, weight, active) ON variants TO grafana;
GRANT SELECT (id, url_id, name, priority, active) ON routing_rules TO grafana;
GRANT SELECT (id, name, active) ON webhooks TO grafana;
