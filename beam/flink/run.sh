#!/usr/bin/env bash
# Apache Flink and Beam's job server for it on this machine, for tests and trials: a JobManager, a TaskManager of two slots and the
# job server, each a process of its own, until this script is stopped.
#
#   beam/flink/run.sh DIR [PORT]
#
# DIR keeps jars (from Maven Central, at the first call), logs and what Flink writes. Flink's page is at PORT of localhost, 18081 by
# default, and the job service at the port after it; two more ports follow. It says "ready" once Flink has its TaskManager.
# It needs Java 17, Maven and curl.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?name a directory}"
dir=$(cd "$1" && pwd)
page=${2:-18081} jobs=$((${2:-18081} + 1)) rpc=$((${2:-18081} + 2)) artifacts=$((${2:-18081} + 3))

if [ ! -e "$dir/jars.complete" ]; then
	mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir/jars" >&2 # its escape sequences would stand before "ready"
	touch "$dir/jars.complete"
fi
mkdir -p "$dir/conf" "$dir/log" "$dir/tmp"
# Sizes are given one by one since Flink's own scripts, which work them out, are not in its jars.
cat >"$dir/conf/flink-conf.yaml" <<CONF
jobmanager.rpc.address: localhost
jobmanager.rpc.port: $rpc
jobmanager.bind-host: localhost
rest.address: localhost
rest.bind-address: localhost
rest.port: $page
taskmanager.host: localhost
taskmanager.bind-host: localhost
taskmanager.numberOfTaskSlots: 2
taskmanager.cpu.cores: 2
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.task.heap.size: 384m
taskmanager.memory.task.off-heap.size: 64m
taskmanager.memory.network.min: 64m
taskmanager.memory.network.max: 64m
taskmanager.memory.managed.size: 128m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 192m
taskmanager.memory.jvm-overhead.max: 192m
pekko.startup-timeout: 120 s
pekko.ask.timeout: 60 s
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 2
restart-strategy.fixed-delay.delay: 1 s
io.tmp.dirs: $dir/tmp
CONF
# What Flink's scripts open to it in Java 17.
open=()
for package in lang net io nio lang.reflect text time util util.concurrent util.concurrent.atomic util.concurrent.locks; do
	open+=("--add-opens=java.base/java.$package=ALL-UNNAMED")
done
open+=(--add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-exports=java.base/sun.net.util=ALL-UNNAMED)
children=()
stop() {
	trap - EXIT
	kill "${children[@]}" 2>/dev/null || true
	wait
}
trap stop EXIT
trap 'exit 0' TERM INT
start() { # NAME HEAP CLASS ARGS
	java "-Xmx$2" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "${open[@]}" -cp "$dir/jars/*" "${@:3}" >"$dir/log/$1.log" 2>&1 &
	children+=($!)
}
start jobmanager 512m org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$dir/conf"
start taskmanager 512m org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$dir/conf"
start jobserver 512m "$here/Server.java" --flink-master="localhost:$page" --flink-conf-dir="$dir/conf" \
	--job-host=localhost --job-port="$jobs" --artifact-port="$artifacts" --expansion-port=-1 --artifacts-dir="$dir/tmp"
until curl -sf "http://localhost:$page/overview" | grep -q '"taskmanagers":1' && grep -q 'Job server now running' "$dir/log/jobserver.log"; do
	for child in "${children[@]}"; do
		kill -0 "$child" 2>/dev/null || { echo "a process of Flink ended; see $dir/log" >&2; exit 1; }
	done
	sleep 1
done
echo "ready localhost:$jobs"
wait -n || true
echo "a process of Flink ended; see $dir/log" >&2
exit 1
