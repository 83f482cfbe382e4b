-- What the steward keeps beside the chain: the witnesses of its head, and a sketch
-- of who is in the data. Neither leaves in a backup or an export.
CREATE TABLE ledger_witnesses (
	dataset BIGINT NOT NULL REFERENCES ledger_datasets (id),
	place TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (dataset, place)
);
CREATE TABLE ledger_sketches (
	dataset BIGINT NOT NULL PRIMARY KEY REFERENCES ledger_datasets (id),
	body BYTEA NOT NULL
);

-- down
DROP TABLE ledger_sketches;
DROP TABLE ledger_witnesses;
