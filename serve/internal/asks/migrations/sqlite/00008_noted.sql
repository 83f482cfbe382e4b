CREATE TABLE curator_token_noted (
	sha256 TEXT PRIMARY KEY,
	person TEXT NOT NULL,
	label TEXT NOT NULL,
	state TEXT NOT NULL
);
