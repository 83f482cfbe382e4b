-- Entries and releases are written once. Whoever owns the file can drop these
-- triggers; they are against slips, the hash chain is against intent.
CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are append-only'); END;
CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are append-only'); END;
CREATE TRIGGER ledger_releases_no_update BEFORE UPDATE ON ledger_releases
BEGIN SELECT RAISE(ABORT, 'recorded releases are append-only'); END;
CREATE TRIGGER ledger_releases_no_delete BEFORE DELETE ON ledger_releases
BEGIN SELECT RAISE(ABORT, 'recorded releases are append-only'); END;

-- down
DROP TRIGGER ledger_releases_no_delete;
DROP TRIGGER ledger_releases_no_update;
DROP TRIGGER ledger_entries_no_delete;
DROP TRIGGER ledger_entries_no_update;
