-- Entries and releases are written once. Whoever owns the tables can drop these
-- triggers; they are against slips, the hash chain is against intent.
CREATE FUNCTION ledger_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
	FOR EACH STATEMENT EXECUTE FUNCTION ledger_append_only();
CREATE TRIGGER ledger_releases_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_releases
	FOR EACH STATEMENT EXECUTE FUNCTION ledger_append_only();

-- down
DROP TRIGGER ledger_releases_append_only ON ledger_releases;
DROP TRIGGER ledger_entries_append_only ON ledger_entries;
DROP FUNCTION ledger_append_only;
