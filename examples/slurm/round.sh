#!/bin/sh
# A round of `discreet evaluate --shards ... --on exec` as an array of Slurm jobs, one a shard:
#
#   --command examples/slurm/round.sh
#
# The run directory, the shards and the file of the run key are on a file system that all nodes
# see. The key comes by DISCREET_RUN_KEY_FILE alone: a variable of a job is kept by Slurm.
set -eu
: "${DISCREET_RUN_KEY_FILE:?name a file of mode 0600 that all nodes see}"
unset DISCREET_RUN_KEY
count=$(wc -l < "$SHARDS")
# --wait ends when the last job has, with the highest of their exit codes.
exec sbatch --wait --quiet --array="0-$((count - 1))%${DISCREET_AT_ONCE:-64}" \
	--export=PATH,TASK,OUT,SHARDS,DISCREET_RUN_KEY_FILE \
	--output="$OUT/%a.log" "$(dirname "$0")/shard.sh"
