#!/usr/bin/env bash
# Two hospitals, north and south, each with a curator's service and a Git repository in which the other's ledger has
# its witness. On two machines the repositories are reached by ssh. North then puts back an older copy of everything
# it has, ledger and store: south's repository knows better, and north charges nothing until the newest is back.
#
#   examples/witnesses/run.sh [DIRECTORY]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$(mktemp -d)}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
(cd "$here/../.." && go build -o "$dir/discreet" ./cmd/discreet)
cd "$dir"

declare -A pids addresses
trap 'kill "${pids[@]}" 2>/dev/null || true; wait' EXIT

# serve starts the service of a hospital.
serve() {
	: >"$1/out.txt" # before the first look at it
	./discreet serve "$1/serve.yaml" >"$1/out.txt" 2>>"$1/log.txt" &
	pids[$1]=$!
	until grep -q '^listening ' "$1/out.txt"; do
		kill -0 "${pids[$1]}" || { cat "$1/log.txt"; exit 1; }
		sleep 0.1
	done
	addresses[$1]=$(awk '/^listening / { print $2 }' "$1/out.txt")
}

stop() {
	kill "${pids[$1]}"
	wait "${pids[$1]}" || true
	unset "pids[$1]"
}

# ask asks at a hospital.
ask() {
	DISCREET_TOKEN=$(cat "$1/token") ./discreet remote --server "${addresses[$1]}" ask pbc "$here/../serve/question.yaml" --purpose "a look" "${@:2}"
}

for pair in north:south south:north; do
	self=${pair%:*}
	mkdir -p "$self/data"
	cp "$here/trial.yaml" "$here/../pbc/trajectories.csv" "$self/"
	sed -e "s|OTHER|$dir/${pair#*:}|; s|SELF|$self|g" "$here/serve.yaml" >"$self/serve.yaml"
	git init --quiet --bare "$self/witness.git"
	git -C "$self/witness.git" config receive.denyNonFastForwards true
	git -C "$self/witness.git" config receive.denyDeletes true
	(umask 077 && ./discreet serve token create "$self/serve.yaml" ann >"$self/token")
done
for self in north south; do
	serve "$self"
done
for self in north south; do
	ask "$self" -o "$self/first.json"
done
git -C south/witness.git show refs/witness/north:heads.ndjson
git -C north/witness.git show refs/witness/south:heads.ndjson

stop north
cp -r north/data older
serve north
ask north -o north/second.json
stop north
mv north/data newest
cp -r older north/data
serve north
if ask north >refused.txt 2>&1; then
	cat refused.txt
	echo "north took an ask on an older copy of its ledger"
	exit 1
fi
cat refused.txt
stop north
grep -o 'witness/north knows entry [0-9]*: ledger is behind' north/log.txt | tail -n 1

rm -r north/data
mv newest north/data
serve north
ask north -o north/third.json
ask south -o south/second.json
stop north
./discreet ledger verify north/data/budget.db north/third.json
echo "an older copy of north was refused, and the newest goes on"
