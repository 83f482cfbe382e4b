#!/usr/bin/env bash
# Does what a tutorial says, in an empty directory: its blocks marked sh, one after the other, as they stand on the page. The
# command is taken from the path; CLONE is this clone.
#
#   site/tutorial.sh PAGE.md
set -euo pipefail
page=$(realpath "$1")
CLONE=$(cd "$(dirname "$0")/.." && pwd)
export CLONE
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >"$dir/.steps"
[ "$(wc -l <"$dir/.steps")" -gt 10 ] || { echo "tutorial.sh: $page has no steps"; exit 1; }
bash -euo pipefail "$dir/.steps"
