#!/bin/sh
# The trial of ../pbc in four shards, evaluated by Spark in local mode. It needs discreet, Java 17
# and Python 3.9 to 3.11, and installs PySpark into DIR, an environment of Python, if it is not there.
#
#   examples/spark/run.sh DIR
set -eu
environment=${1:?name a directory for an environment of Python}
"$(dirname "$0")/install.sh" "$environment"
environment=$(cd "$environment" && pwd)
cd "$(dirname "$0")/../shards"
rm -rf shards out run-spark
discreet shard ../pbc/trajectories.csv --schema schema.yaml -o shards --shards 4
DISCREET_RUN_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export DISCREET_RUN_KEY PYSPARK_PYTHON="$environment/bin/python"
# A task that fails is tried three times in all.
discreet evaluate evaluate.yaml --shards 'shards/*.parquet' --run run-spark --on exec \
	--command "'$environment/bin/spark-submit' --master 'local[2,3]' ../spark/round.py"
discreet verify out/release.json
