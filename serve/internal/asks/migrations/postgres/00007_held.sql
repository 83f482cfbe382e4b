ALTER TABLE curator_ask ADD COLUMN ledger_key TEXT NOT NULL DEFAULT '';
ALTER TABLE curator_ask ADD COLUMN ledger TEXT NOT NULL DEFAULT '';
ALTER TABLE curator_ask ADD COLUMN entry BIGINT NOT NULL DEFAULT 0;
ALTER TABLE curator_ask ADD COLUMN entry_hash BYTEA;
CREATE INDEX curator_ask_ledger_key ON curator_ask (ledger_key);
CREATE TABLE curator_mark (
	dataset TEXT PRIMARY KEY,
	ledger TEXT NOT NULL,
	seq BIGINT NOT NULL,
	hash BYTEA NOT NULL,
	made BIGINT NOT NULL
);
CREATE TABLE curator_orphan (
	ledger_key TEXT PRIMARY KEY,
	dataset TEXT NOT NULL
);
CREATE TABLE curator_audit_end (
	one BIGINT PRIMARY KEY,
	seq BIGINT NOT NULL,
	hash BYTEA NOT NULL
);
INSERT INTO curator_audit_end (one, seq, hash) SELECT 0, seq, hash FROM curator_audit ORDER BY seq DESC LIMIT 1;
