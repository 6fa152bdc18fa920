-- The role of the services: it may ask, and add, and no more. The owner of the tables runs this, after `neardup store create`:
--
--   psql --set=ON_ERROR_STOP=1 --file=roles.sql "postgresql://owner@database/neardup"
--
-- SERVICE_PASSWORD_FILE names the file with the role's password. Running it again sets the password anew.

\set password `cat "$SERVICE_PASSWORD_FILE"`
SELECT 'CREATE ROLE service LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'service') \gexec
ALTER ROLE service PASSWORD :'password';

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA neardup TO service;
GRANT SELECT ON ALL TABLES IN SCHEMA neardup TO service;
GRANT INSERT ON neardup.changes, neardup.documents, neardup.removed, neardup.notes, neardup.judgements TO service;
GRANT INSERT ON neardup.skipped, neardup.skipped_contents, neardup.orphans TO service;
GRANT UPDATE ON neardup.stores, neardup.documents, neardup.removed, neardup.notes, neardup.orphans TO service;
GRANT DELETE ON neardup.notes, neardup.judgements, neardup.skipped, neardup.skipped_contents, neardup.orphans TO service;
