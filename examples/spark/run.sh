#!/bin/sh
# The trial of ../pbc, evaluated as a table of Spark in local mode. It needs discreet on the path, Java 17 and
# Python 3.11, and installs PySpark into DIR, an environment of Python, if it is not there.
#
#   examples/spark/run.sh DIR
set -eu
environment=${1:?name a directory for an environment of Python}
cd "$(dirname "$0")"
./install.sh "$environment"
PYSPARK_PYTHON=$environment/bin/python
DISCREET_BINARY=$(command -v discreet)
PYTHONPATH=$PWD/../../python/src
export PYSPARK_PYTHON DISCREET_BINARY PYTHONPATH
rm -rf run
"$PYSPARK_PYTHON" table.py ../pbc/trajectories.csv run
