#!/usr/bin/env bash
# Upgrades what 0.1.0 left to the program of this work tree: a ledger, a curator's service with answered asks and one
# that waits, a fleet with a run. Every release stays what it was, byte for byte, and what was spent stays spent.
# docs/releasing.md has the steps; .ci/long upgrade runs this.
#
#   deploy/upgrade.sh [ASKS] [DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
asks=${1:-3}
dir=${2:-$(mktemp -d)}
from=$(git rev-parse -q --verify 'v0.1.0^{commit}' || echo 2f16b114) # its last change of code
mkdir -p "$dir/source"
git archive "$from" | tar -x -C "$dir/source"
(cd "$dir/source" && go build -buildvcs=false -trimpath -o "$dir/old" ./cmd/discreet)
go build -buildvcs=false -trimpath -o "$dir/new" ./cmd/discreet
cd "$dir"
cp -r source/examples/serve source/examples/pbc source/examples/fleet-network .
sed -i 's/127.0.0.1:8420/127.0.0.1:0/' serve/serve.yaml
port=$((20000 + RANDOM % 10000))
sed -i "s/127.0.0.1:8443/127.0.0.1:$port/; /^page:/d" fleet-network/fleet.yaml

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait' EXIT

# serve starts the curator's service of a program.
serve() {
	: >out.txt
	"./$1" serve serve/serve.yaml >out.txt 2>>log.txt &
	pids=("$!")
	until grep -q '^listening ' out.txt; do
		kill -0 "${pids[0]}" || { cat log.txt; exit 1; }
		sleep 0.1
	done
	server=--server=$(awk '/^listening / { print $2 }' out.txt)
}

# fleet starts the fleet's server of a program.
fleet() {
	: >fleet.txt
	"./$1" fleet serve fleet-network/fleet.yaml 2>fleet.txt &
	pids=("$!")
	until grep -q '"msg":"serving"' fleet.txt; do
		kill -0 "${pids[0]}" || { cat fleet.txt; exit 1; }
		sleep 0.1
	done
}

stop() {
	kill "${pids[0]}"
	wait "${pids[0]}" || true
	pids=()
}

spent() { "./$1" remote budget "$server" pbc; }

# Before: 0.1.0.
DISCREET_TOKEN=$(./old serve token create serve/serve.yaml ann)
export DISCREET_TOKEN
steward=$(./old serve token create serve/serve.yaml stella)
serve old
for i in $(seq "$asks"); do
	./old remote ask "$server" pbc serve/question.yaml --purpose "ask $i" -o "old-$i.json" | tee "ask-$i.txt"
done
sed 's/epsilon: 0.5/epsilon: 0.8/' serve/question.yaml >larger.yaml
./old remote ask "$server" pbc larger.yaml --purpose waits | tee waiting.txt
before=$(spent old)
stop
./old fleet keys fleet-network/fleet.yaml
fleet old
./old fleet enrol fleet-network/fleet.yaml --codes 1 >codes.txt
./old fleet create fleet-network/fleet.yaml --root fleet-network/keys/root.key | tee run.txt
stop

# The steps of the page: a copy, the new program, and what it says.
cp -r serve serve-copy
serve new
[ "$(spent new)" = "$before" ] || { echo "spent was $before, and is $(spent new)"; exit 1; }
for i in $(seq "$asks"); do
	./new remote release "$server" "$(awk '$1 == "ask" { print $2 }' "ask-$i.txt")" -o "new-$i.json"
	cmp "old-$i.json" "new-$i.json"
	./new verify "new-$i.json" >/dev/null || [ $? = 4 ]
done
waiting=$(awk '$1 == "ask" { print $2 }' waiting.txt)
DISCREET_TOKEN=$steward ./new remote decide "$server" "$waiting" --approve
./new remote watch "$server" "$waiting"
./new remote ask "$server" pbc serve/question.yaml --purpose after -o after.json
./new serve backup serve/serve.yaml backup
stop
./new serve audit serve/serve.yaml
./new ledger verify serve/data/budget.db after.json
if timeout 20 ./old serve serve/serve.yaml >back.txt 2>&1; then
	cat back.txt
	echo "0.1.0 goes on with what a later version has changed"
	exit 1
fi
cat back.txt

fleet new
./new fleet status fleet-network/fleet.yaml
./new fleet rotate fleet-network/fleet.yaml --root fleet-network/keys/root.key
stop
echo "upgraded from $from: $asks releases are what they were"
