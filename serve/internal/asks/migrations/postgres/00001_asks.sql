CREATE TABLE curator_audit (
	seq BIGINT PRIMARY KEY,
	dataset TEXT NOT NULL,
	line BYTEA NOT NULL,
	hash BYTEA NOT NULL
);
CREATE INDEX curator_audit_dataset ON curator_audit (dataset, seq);
CREATE TABLE curator_ask (
	id TEXT PRIMARY KEY,
	number BIGINT NOT NULL UNIQUE,
	client_key TEXT NOT NULL,
	analyst TEXT NOT NULL,
	dataset TEXT NOT NULL,
	question TEXT NOT NULL,
	purpose TEXT NOT NULL,
	epsilon DOUBLE PRECISION NOT NULL,
	delta DOUBLE PRECISION NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	asked BIGINT NOT NULL,
	ended BIGINT NOT NULL,
	told BIGINT NOT NULL,
	fence BIGINT NOT NULL,
	lease_until BIGINT NOT NULL,
	release BYTEA,
	UNIQUE (analyst, client_key)
);
CREATE INDEX curator_ask_dataset ON curator_ask (dataset, number);
CREATE INDEX curator_ask_state ON curator_ask (state, number);
CREATE TABLE curator_policy (
	dataset TEXT NOT NULL,
	analyst TEXT NOT NULL,
	name TEXT NOT NULL,
	sha256 TEXT NOT NULL,
	content BYTEA NOT NULL,
	PRIMARY KEY (dataset, analyst, name)
);
CREATE TABLE curator_session (
	sha256 BYTEA PRIMARY KEY,
	token BYTEA NOT NULL,
	expires BIGINT NOT NULL
);
CREATE TABLE curator_notice (
	seq BIGINT PRIMARY KEY,
	dataset TEXT NOT NULL,
	ask TEXT NOT NULL,
	made BIGINT NOT NULL,
	text TEXT NOT NULL
);
CREATE INDEX curator_notice_dataset ON curator_notice (dataset, seq);
