#!/bin/sh
# Builds an image like Apache Kafka's, for machines that cannot pull it.
#
#   .ci/container-image.sh NAME[:TAG]
#
# This machine's Java and the few programs that the image's script calls, with the libraries they name, the broker's jars from our
# cache, and /etc/kafka/docker/run, which turns KAFKA_* variables into properties as the official image does. Does nothing if the
# engine has an image of that name. Needs Linux with glibc, a running Docker engine (.ci/docker.sh provides it), and $PYTHON
# (default: python) with this project and pyspark installed.
set -eu
umask 022

say() { echo "container-image.sh: $*" >&2; }
fail() { say "$*"; exit 1; }

[ $# -eq 1 ] || fail "usage: container-image.sh NAME[:TAG]"
name=$1
python=${PYTHON:-python}

docker info >/dev/null 2>&1 || fail "no Docker engine answers; run .ci/docker.sh first"
if docker image inspect "$name" >/dev/null 2>&1; then
    say "$name exists"
    exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/cdc-conformance-image.XXXXXX")
root=$work/root
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "finding Java and the broker's jars"
cd "$(dirname "$0")/.."
"$python" -c '
import sys
from conformance.brokers.jars import kafka_jars, require_java
from generators.errors import HarnessError
try:
    jars = kafka_jars(lambda line: print(line, file=sys.stderr))
    print(require_java().path, *jars, sep="\n")
except HarnessError as error:
    sys.exit(str(error))
' >"$work/files" || fail "Java or the Kafka jars are not available"

java=$(readlink -f "$(command -v "$(head -n 1 "$work/files")")")
java=${java%/bin/java}
mkdir -p "$root/opt/java" "$root/home/appuser" "$root/etc" "$root/tmp"
chmod 1777 "$root/tmp"
printf '%s\n' root:x:0:0::/root:/bin/sh appuser:x:1000:1000::/home/appuser:/bin/sh >"$root/etc/passwd"
# Links lead out of it, to a distribution's settings; a link that leads nowhere is left out.
(cd "$java" && find -L . -type f ! -path './jmods/*' ! -path './demo/*' ! -name src.zip -print0 |
    tar --null -T - -h -c) | tar -x -C "$root/opt/java"
[ -x "$root/opt/java/bin/java" ] && [ -e "$root/opt/java/lib/modules" ] || fail "$java is not whole"
programs=$(for program in sh env grep sed tr mktemp; do command -v "$program"; done)
# shellcheck disable=SC2086 # one word a program
ldd $programs "$java/bin/java" "$java"/lib/*.so "$java/lib/server/libjvm.so" |
    sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^\t\(\/[^ ]*\) .*/\1/p' | grep -v "^$java/" | sort -u >"$work/libraries"
# shellcheck disable=SC2046,SC2086
cp -L --parents $programs $(cat "$work/libraries") "$root"
[ -e "$root/bin/sh" ] || { mkdir -p "$root/bin" && ln -s "$(command -v sh)" "$root/bin/sh"; }

mkdir -p "$root/opt/kafka/libs" "$root/etc/kafka/docker"
tail -n +2 "$work/files" | while IFS= read -r jar; do cp "$jar" "$root/opt/kafka/libs/"; done
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
# It runs for seconds: optimised code would cost more than it saves.
java="/opt/java/bin/java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${KAFKA_HEAP_OPTS:--Xmx1G} ${KAFKA_OPTS:-} -cp /opt/kafka/libs/*"
set -f
$java kafka.tools.StorageTool format --ignore-formatted \
    "--cluster-id=${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" "--config=$properties"
exec $java -Dorg.slf4j.simpleLogger.showDateTime=true kafka.Kafka "$properties"
RUN
chmod 755 "$root/etc/kafka/docker/run"

say "importing $name"
tar -C "$root" -c . | docker import --change 'USER appuser' --change 'EXPOSE 9092' \
    --change 'WORKDIR /home/appuser' --change 'CMD ["/etc/kafka/docker/run"]' - "$name" >/dev/null
say "$name is built"
