-- The machine that the state is bound to, as a hash; the last permit that is known, over all runs, and how many were asked for since
-- without an answer; whether another copy of the state was seen.
ALTER TABLE agent_identity ADD COLUMN machine BLOB;
ALTER TABLE agent_identity ADD COLUMN drawn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_identity ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_identity ADD COLUMN copied INTEGER NOT NULL DEFAULT 0;
