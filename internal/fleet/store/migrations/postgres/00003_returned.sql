-- The device that came back with a code, where it is not the one that the code would have begun. Such a code stays, so that its
-- device can be revoked by it.
ALTER TABLE fleet_code ADD COLUMN device BYTEA;
