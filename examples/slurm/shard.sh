#!/bin/sh
#SBATCH --job-name=discreet
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=01:00:00
#SBATCH --requeue
# One job of the array: it answers for the shard of its number. A job that Slurm runs again,
# as where its node was lost, finds its answer there or makes it.
set -eu
shard=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$SHARDS")
part="$OUT/$SLURM_ARRAY_TASK_ID.part"
[ -e "$part" ] || discreet partial "$TASK" "$shard" -o "$part"
