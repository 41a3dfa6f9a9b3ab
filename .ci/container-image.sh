#!/bin/sh
# Builds an image like Apache Kafka's, for machines that cannot pull it.
#
#   .ci/container-image.sh NAME[:TAG]
#
# Debian (debootstrap), a JRE, the broker's jars from our cache, and /etc/kafka/docker/run, which turns KAFKA_* variables into
# properties as the official image does. Does nothing if the engine has an image of that name. Needs root, a running Docker engine
# and debootstrap (.ci/docker.sh provides both), and $PYTHON (default: python) with this project and pyspark installed.
# DEBOOTSTRAP_MIRROR names a Debian mirror instead of debootstrap's default.
set -eu

say() { echo "container-image.sh: $*" >&2; }
fail() { say "$*"; exit 1; }

[ $# -eq 1 ] || fail "usage: container-image.sh NAME[:TAG]"
name=$1
python=${PYTHON:-python}
suite=bookworm

docker info >/dev/null 2>&1 || fail "no Docker engine answers; run .ci/docker.sh first"
if docker image inspect "$name" >/dev/null 2>&1; then
    say "$name exists"
    exit 0
fi
command -v debootstrap >/dev/null 2>&1 || fail "debootstrap is not installed"
[ "$(id -u)" -eq 0 ] || fail "debootstrap needs root"

work=$(mktemp -d "${TMPDIR:-/tmp}/cdc-conformance-image.XXXXXX")
root=$work/root
cleanup() {
    # debootstrap may leave these mounted; removing through a mount would reach the host.
    for mount in proc sys dev/pts dev; do umount "$root/$mount" 2>/dev/null || true; done
    rm -rf --one-file-system "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "finding the broker's jars"
cd "$(dirname "$0")/.."
"$python" -c '
import sys
from conformance.brokers.jars import kafka_jars
from generators.errors import HarnessError
try:
    jars = kafka_jars(lambda line: print(line, file=sys.stderr))
except HarnessError as error:
    sys.exit(str(error))
print(*jars, sep="\n")
' >"$work/jars" || fail "the Kafka jars are not available"

say "installing Debian $suite and a JRE (under a minute)"
# shellcheck disable=SC2086 # the mirror is optional
debootstrap --variant=minbase --include=openjdk-17-jre-headless "$suite" "$root" ${DEBOOTSTRAP_MIRROR:-} >"$work/log" 2>&1 || {
    tail -n 15 "$work/log" >&2
    fail "debootstrap failed"
}
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/*
chroot "$root" useradd --create-home --uid 1000 appuser

mkdir -p "$root/opt/kafka/libs" "$root/etc/kafka/docker"
while IFS= read -r jar; do cp "$jar" "$root/opt/kafka/libs/"; done <"$work/jars"
cat >"$root/etc/kafka/docker/run" <<'RUN'
#!/bin/sh
# KAFKA_LOG_DIRS=/x becomes log.dirs=/x: _ is a dot, __ an underscore, ___ a dash.
set -eu
properties=$(mktemp)
env | grep '^KAFKA_' | grep -Ev '^KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|LOG4J[A-Z0-9_]*)=' | while IFS='=' read -r variable value; do
    property=$(printf %s "${variable#KAFKA_}" | sed 's/___/-/g; s/__/\n/g; s/_/./g; y/\n/_/' | tr '[:upper:]' '[:lower:]')
    printf '%s=%s\n' "$property" "$value"
done >"$properties"
grep -q '^log.dirs=' "$properties" || echo log.dirs=/tmp/kraft-combined-logs >>"$properties"
java="java ${KAFKA_HEAP_OPTS:--Xmx1G} ${KAFKA_OPTS:-} -cp /opt/kafka/libs/*"
set -f
$java -XX:TieredStopAtLevel=1 kafka.tools.StorageTool format --ignore-formatted \
    "--cluster-id=${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" "--config=$properties"
exec $java -Dorg.slf4j.simpleLogger.showDateTime=true kafka.Kafka "$properties"
RUN
chmod 755 "$root/etc/kafka/docker/run"
for mount in proc sys dev/pts; do umount "$root/$mount" 2>/dev/null || true; done

say "importing $name"
tar -C "$root" --one-file-system -c . | docker import --change 'USER appuser' --change 'EXPOSE 9092' \
    --change 'WORKDIR /home/appuser' --change 'CMD ["/etc/kafka/docker/run"]' - "$name" >/dev/null
say "$name is built"
