-- Checks of the data that failed, for the steward alone: in no chain, export or backup.
CREATE TABLE ledger_checks (
	dataset BIGINT NOT NULL REFERENCES ledger_datasets (id),
	id BIGINT NOT NULL,
	at TEXT COLLATE "C" NOT NULL,
	analyst TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (dataset, id)
);

-- down
DROP TABLE ledger_checks;
