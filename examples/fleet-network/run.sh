#!/usr/bin/env bash
# A fleet on one machine: a server on loopback, and devices that are a process each. They train one policy to balance
# a pole, each under a gravity of its own, in about five minutes; meanwhile a page shows how they do.
#
#   examples/fleet-network/run.sh [DIRECTORY]                     the store is a file of SQLite
#   STORE=postgres examples/fleet-network/run.sh [DIRECTORY]      PostgreSQL, which it starts, and two servers; one is killed on the way and started again
#
# DEVICES=50 by default: with fewer, each would be asked for more reports than it makes. PORT=8443 and PAGE=8080 are those of the first
# server; the second has the next ones. Everything is left in DIRECTORY, or in a new one: keys, the store, and for each device its
# state, its wallet and its log.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$(mktemp -d)}
devices=${DEVICES:-50}
port=${PORT:-8443}
page=${PAGE:-8080}
mkdir -p "$dir"
(cd "$here/../.." && go build -o "$dir/discreet" ./cmd/discreet)
cd "$dir"
sed -e "s/127.0.0.1:8443/127.0.0.1:$port/" -e "s/127.0.0.1:8080/127.0.0.1:$page/" "$here/fleet.yaml" >fleet.yaml

# On average nine devices take part in a round, and all in the last, which evaluates; on slow machines reports may come late, hence the room.
settings=(--set schedule.sample_rate="$(awk "BEGIN { print 8.9 / $devices }")" --set schedule.min_reports=3 --set schedule.max_reports="$devices" --set schedule.evaluate_reports="$devices"
	--set schedule.train_seconds=2.5 --set schedule.upload_seconds=3 --set limits.grace_seconds=0.5)

pids=()
database=
finish() {
	kill "${pids[@]}" 2>/dev/null || true
	wait
	[ -z "$database" ] || postgres pg_ctl -D "$database/data" -m fast stop >/dev/null || true
}
trap finish EXIT

# PostgreSQL runs from the installed binaries, in a directory and on a socket of its own, durable as it has to be. It refuses to be root.
postgres() {
	local program=$1
	shift
	if [ "$(id -u)" = 0 ]; then
		runuser -u postgres -- "$binaries/$program" "$@"
	else
		"$binaries/$program" "$@"
	fi
}
if [ "${STORE:-sqlite}" = postgres ]; then
	binaries=$(find /usr/lib/postgresql/*/bin -maxdepth 0 | tail -n 1)
	data=$(mktemp -d)
	[ "$(id -u)" != 0 ] || chown postgres "$data"
	(cd "$data" && postgres initdb -D "$data/data" -A trust -U fleet -E UTF8 --no-locale >/dev/null)
	database=$data
	(cd "$data" && postgres pg_ctl -D "$data/data" -w -l "$data/log" -o "-k $data -c listen_addresses=''" start >/dev/null)
	(cd "$data" && postgres createdb -h "$data" -U fleet fleet)
	settings+=(--set "store=postgres://fleet@/fleet?host=$data&sslmode=disable")
fi

# serve starts server N, 0 or 1, and waits until it serves.
serve() {
	local log=server-$1.log
	./discreet fleet serve fleet.yaml "${settings[@]}" --set listen="127.0.0.1:$((port + $1))" --set page="127.0.0.1:$((page + $1))" 2>"$log" &
	server=$!
	pids+=("$server")
	until grep -q '"msg":"serving"' "$log"; do
		kill -0 "$server" || { cat "$log"; exit 1; }
		sleep 0.1
	done
	echo "server $1 serves; its page is http://127.0.0.1:$((page + $1))/"
}

./discreet fleet keys fleet.yaml >keys.txt
serve 0
servers=1
if [ -n "$database" ]; then
	serve 1
	servers=2
fi
./discreet fleet enrol fleet.yaml --codes "$devices" >codes.txt

# The root would be on another machine, and what it signed would reach devices with their software.
agents=()
number=0
./discreet fleet create fleet.yaml --root keys/root.key "${settings[@]}" >run.txt
cat run.txt
while read -r code; do
	number=$((number + 1))
	cat >"device-$number.yaml" <<YAML
server: https://127.0.0.1:$((port + number % servers))
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

if [ "$servers" = 2 ]; then
	sleep 60
	kill -9 "$server"
	wait "$server" 2>/dev/null || true
	echo "server 1 was killed; server 0 goes on"
	mv server-1.log server-1-killed.log
	serve 1
fi

failed=0
for pid in "${agents[@]}"; do
	wait "$pid" || failed=$((failed + 1))
done
./discreet fleet round end fleet.yaml >/dev/null
./discreet fleet status fleet.yaml --rounds 40 >status.txt
grep -v ' train .* applied ' status.txt # the run, evaluations, and rounds that did not count
awk '/ train .* applied / { rounds++; reports += $5 } END { printf "%d training rounds were applied, with %d reports\n", rounds, reports }' status.txt
./discreet fleet policy fleet.yaml -o policy.json
sort -k6 -n <<<"$(grep -h 'this device has spent' device-*.log)" | uniq -c | awk '{ n = $1; $1 = ""; printf "%d devices:%s\n", n, $0 }'

# What no real operator could look at: how well the policy does in the devices' worlds.
for gravity in 9.7 9.8 9.9; do
	./discreet simulate cart-pole --gravity "$gravity" --max-steps 200 --episodes 200 --seed 1 --policy softmax --policy-file policy.json -o "episodes-$gravity.csv" >/dev/null
	awk -F, -v gravity="$gravity" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "reward") c = i; next } { sum += $c }
		END { printf "mean score under gravity %s: %.1f of 200\n", gravity, sum / 200 }' "episodes-$gravity.csv"
done
[ "$failed" = 0 ] || { echo "$failed devices failed; see their logs in $dir"; exit 1; }
if [ -t 0 ]; then
	read -r -p "the page is http://127.0.0.1:$page/ until you press enter "
fi
