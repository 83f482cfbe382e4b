CREATE TABLE ledger_store (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	fingerprint_key BYTEA NOT NULL
);
CREATE TABLE ledger_datasets (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name TEXT COLLATE "C" NOT NULL UNIQUE,
	seq BIGINT NOT NULL,
	head BYTEA NOT NULL
);
CREATE TABLE ledger_entries (
	dataset BIGINT NOT NULL REFERENCES ledger_datasets (id),
	seq BIGINT NOT NULL,
	hash BYTEA NOT NULL,
	body BYTEA NOT NULL,
	PRIMARY KEY (dataset, seq)
);
CREATE TABLE ledger_charges (
	dataset BIGINT NOT NULL REFERENCES ledger_datasets (id),
	key TEXT COLLATE "C" NOT NULL,
	seq BIGINT NOT NULL,
	recorded BIGINT,
	PRIMARY KEY (dataset, key)
);
CREATE UNIQUE INDEX ledger_charges_by_seq ON ledger_charges (dataset, seq);
CREATE INDEX ledger_charges_pending ON ledger_charges (dataset, seq) WHERE recorded IS NULL;
CREATE TABLE ledger_releases (
	dataset BIGINT NOT NULL REFERENCES ledger_datasets (id),
	seq BIGINT NOT NULL,
	body BYTEA NOT NULL,
	PRIMARY KEY (dataset, seq)
);
CREATE TABLE ledger_analysts (
	dataset BIGINT NOT NULL REFERENCES ledger_datasets (id),
	analyst TEXT COLLATE "C" NOT NULL,
	body BYTEA NOT NULL,
	PRIMARY KEY (dataset, analyst)
);
CREATE TABLE ledger_sightings (
	fingerprint TEXT COLLATE "C" NOT NULL,
	dataset BIGINT NOT NULL REFERENCES ledger_datasets (id),
	PRIMARY KEY (fingerprint, dataset)
);

-- down
DROP TABLE ledger_sightings;
DROP TABLE ledger_analysts;
DROP TABLE ledger_releases;
DROP TABLE ledger_charges;
DROP TABLE ledger_entries;
DROP TABLE ledger_datasets;
DROP TABLE ledger_store;
