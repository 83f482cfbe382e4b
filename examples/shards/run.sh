#!/bin/sh
# One question of a trial, of data in four shards: first by all cores of this machine,
# then by a worker process for each shard and round, as an engine would start them.
# What an earlier call of this script made here is removed first: these are new releases,
# of public data and without a ledger.
set -eu
cd "$(dirname "$0")"
rm -rf shards out run-exec
discreet shard ../pbc/trajectories.csv --schema schema.yaml -o shards --shards 4
discreet evaluate evaluate.yaml --shards 'shards/*.parquet'

# The run key masks what workers write. It is in the environment, and in no file.
DISCREET_RUN_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export DISCREET_RUN_KEY
discreet evaluate evaluate.yaml --shards 'shards/*.parquet' --set output=null --run run-exec --on exec --command '
	xargs -P 2 -I {} sh -c '\''discreet partial "$TASK" "$1" -o "$OUT/$(basename "$1").part"'\'' worker {} < "$SHARDS"
'
