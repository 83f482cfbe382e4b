#!/bin/sh
# A round of `discreet evaluate --shards ... --on exec` as an indexed Job of Kubernetes:
#
#   --command 'examples/kubernetes/round.sh'
#
# The driver sees the volume of the shards and of the run directory at /data, as the pods
# do. DISCREET_IMAGE names the image of the workers. With --print it prints the manifest.
set -eu
: "${DISCREET_IMAGE:?name the image of the workers}"
# Nothing that sed or YAML would read as theirs.
for value in "$TASK" "$OUT" "$SHARDS" "$DISCREET_IMAGE"; do
	case $value in *[!A-Za-z0-9/._:@-]*) echo "round.sh: '$value' holds other characters than letters, digits and /._:@-" >&2 && exit 2 ;; esac
done
manifest() {
	sed -e "s|@COUNT@|$(wc -l < "$SHARDS" | tr -d ' ')|" -e "s|@AT_ONCE@|${DISCREET_AT_ONCE:-64}|" \
		-e "s|@TASK@|$TASK|" -e "s|@OUT@|$OUT|" -e "s|@SHARDS@|$SHARDS|" -e "s|@NAME@|$(basename "$OUT")|" -e "s|@IMAGE@|$DISCREET_IMAGE|" \
		"$(dirname "$0")/job.yaml"
}
if [ "${1-}" = --print ]; then
	manifest
	exit
fi
job=$(manifest | kubectl create -f - -o name)
# The Job ends complete or failed; a wait for one of them alone would miss the other.
while :; do
	state=$(kubectl get "$job" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}')
	case " $state " in
	*" Complete "*) exit 0 ;;
	*" Failed "*) kubectl logs "$job" --tail=20 >&2 || true; echo "round.sh: $job failed" >&2; exit 1 ;;
	esac
	sleep 2
done
