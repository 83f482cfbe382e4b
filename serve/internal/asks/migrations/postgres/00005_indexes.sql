CREATE INDEX curator_ask_open ON curator_ask (dataset, number) WHERE state IN ('queued', 'running');
CREATE INDEX curator_ask_recent ON curator_ask (dataset, analyst, asked);
