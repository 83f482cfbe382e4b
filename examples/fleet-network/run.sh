#!/usr/bin/env bash
# A fleet on one machine: a server on loopback with SQLite, and devices that are a process each. They train one policy to balance
# a pole, each under a gravity of its own, in about four minutes.
#
#   examples/fleet-network/run.sh [DIRECTORY]       DEVICES=50 by default; with fewer, each would be asked for more reports than it makes
#
# Everything is left in DIRECTORY, or in a new one: keys, the store, and for each device its state, its wallet and its log.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$(mktemp -d)}
devices=${DEVICES:-50}
mkdir -p "$dir"
(cd "$here/../.." && go build -o "$dir/discreet" ./cmd/discreet)
cp "$here/fleet.yaml" "$dir/fleet.yaml"
cd "$dir"

# On average ten devices take part in a round; on slow machines reports may come late, hence the room.
rounds=(--set schedule.sample_rate="$(awk "BEGIN { print 10 / $devices }")" --set schedule.min_reports=3 --set schedule.max_reports="$devices"
	--set schedule.evaluate_every=0 --set schedule.threshold=0 --set schedule.train_seconds=2.5 --set schedule.upload_seconds=3 --set limits.grace_seconds=0.5)

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait' EXIT
./discreet fleet keys fleet.yaml >keys.txt
./discreet fleet serve fleet.yaml "${rounds[@]}" 2>server.log &
server=$!
pids+=("$server")
until grep -q '"msg":"serving"' server.log; do
	kill -0 "$server" || { cat server.log; exit 1; }
	sleep 0.1
done
./discreet fleet enrol fleet.yaml --codes "$devices" >codes.txt

# The root would be on another machine, and what it signed would reach devices with their software.
agents=()
number=0
./discreet fleet create fleet.yaml --root keys/root.key "${rounds[@]}" >run.txt
cat run.txt
while read -r code; do
	number=$((number + 1))
	cat >"device-$number.yaml" <<YAML
server: https://127.0.0.1:8443
authority: keys/ca.pem
root: keys/root.pub
state: device-$number
code: $code
epsilon: 8
$(grep '^consent:' run.txt)
learner:
  environment: {name: cart-pole, gravity: [9.$((7 + number % 3))]}
YAML
	./discreet fleet agent "device-$number.yaml" 2>"device-$number.log" &
	agents+=("$!")
	pids+=("$!")
done <codes.txt

failed=0
for pid in "${agents[@]}"; do
	wait "$pid" || failed=$((failed + 1))
done
./discreet fleet round end fleet.yaml >/dev/null
./discreet fleet status fleet.yaml --rounds 3
./discreet fleet policy fleet.yaml -o policy.json
for i in $(seq "$number"); do
	printf 'device %d: %s\n' "$i" "$(grep 'this device has spent' "device-$i.log")"
done

# What no real operator could look at: how well the policy does in the devices' worlds.
for gravity in 9.7 9.8 9.9; do
	./discreet simulate cart-pole --gravity "$gravity" --max-steps 200 --episodes 200 --seed 1 --policy softmax --policy-file policy.json -o "episodes-$gravity.csv" >/dev/null
	awk -F, -v gravity="$gravity" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "reward") c = i; next } { sum += $c }
		END { printf "mean score under gravity %s: %.1f of 200\n", gravity, sum / 200 }' "episodes-$gravity.csv"
done
[ "$failed" = 0 ] || { echo "$failed devices failed; see their logs in $dir"; exit 1; }
