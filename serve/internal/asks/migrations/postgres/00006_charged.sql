CREATE INDEX curator_ask_charged ON curator_ask (dataset, ended) WHERE state IN ('released', 'pending');
