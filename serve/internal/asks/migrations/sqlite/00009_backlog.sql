ALTER TABLE curator_ask ADD COLUMN queued BIGINT NOT NULL DEFAULT 0;
ALTER TABLE curator_ask ADD COLUMN counted_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE curator_ask ADD COLUMN begun BIGINT NOT NULL DEFAULT 0;
UPDATE curator_ask SET queued = asked WHERE state <> 'waiting';
CREATE INDEX curator_ask_told ON curator_ask (told, dataset);
CREATE TABLE curator_delivery (
	channel TEXT NOT NULL,
	dataset TEXT NOT NULL,
	seq BIGINT NOT NULL,
	tries BIGINT NOT NULL,
	due BIGINT NOT NULL,
	PRIMARY KEY (channel, dataset)
);
