#!/bin/sh
# Makes an environment of Python in DIR with PySpark, if it is not there. It needs Python 3.11.
#
#   examples/spark/install.sh DIR
set -eu
environment=${1:?name a directory for an environment of Python}
[ -e "$environment/bin/pip" ] || python3 -m venv "$environment"
"$environment/bin/pip" install -q --disable-pip-version-check pyspark==3.5.5 pyarrow pandas
