CREATE TABLE ledger_store (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	fingerprint_key BLOB NOT NULL
) STRICT;
CREATE TABLE ledger_datasets (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	seq INTEGER NOT NULL,
	head BLOB NOT NULL
) STRICT;
CREATE TABLE ledger_entries (
	dataset INTEGER NOT NULL REFERENCES ledger_datasets (id),
	seq INTEGER NOT NULL,
	hash BLOB NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY (dataset, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_charges (
	dataset INTEGER NOT NULL REFERENCES ledger_datasets (id),
	key TEXT NOT NULL,
	seq INTEGER NOT NULL,
	recorded INTEGER,
	PRIMARY KEY (dataset, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX ledger_charges_by_seq ON ledger_charges (dataset, seq);
CREATE INDEX ledger_charges_pending ON ledger_charges (dataset, seq) WHERE recorded IS NULL;
CREATE TABLE ledger_releases (
	dataset INTEGER NOT NULL REFERENCES ledger_datasets (id),
	seq INTEGER NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY (dataset, seq)
) STRICT;
CREATE TABLE ledger_analysts (
	dataset INTEGER NOT NULL REFERENCES ledger_datasets (id),
	analyst TEXT NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY (dataset, analyst)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_sightings (
	fingerprint TEXT NOT NULL,
	dataset INTEGER NOT NULL REFERENCES ledger_datasets (id),
	PRIMARY KEY (fingerprint, dataset)
) STRICT, WITHOUT ROWID;

-- down
DROP TABLE ledger_sightings;
DROP TABLE ledger_analysts;
DROP TABLE ledger_releases;
DROP TABLE ledger_charges;
DROP TABLE ledger_entries;
DROP TABLE ledger_datasets;
DROP TABLE ledger_store;
