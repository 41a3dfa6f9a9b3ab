#!/bin/sh
# Makes sure that a Docker engine answers; starts dockerd if none does.
#
#   .ci/docker.sh          leaves an engine running; a started dockerd has its process id in $CDC_CONFORMANCE_DOCKERD_PID
#                          (default /var/run/cdc-conformance-dockerd.pid) and its log beside it
#   .ci/docker.sh stop     stops the dockerd that this script started
#
# Packages are installed only with CI=true or CDC_CONFORMANCE_INSTALL=1. Exits 1 and names the failed step if no engine can be started.
set -u

pid_file=${CDC_CONFORMANCE_DOCKERD_PID:-/var/run/cdc-conformance-dockerd.pid}
log=${pid_file%.pid}.log

say() { echo "docker.sh: $*" >&2; }
fail() { say "$*"; exit 1; }
answers() { docker info >/dev/null 2>&1; }
ours() { [ -s "$pid_file" ] && grep -aq dockerd "/proc/$(cat "$pid_file")/cmdline" 2>/dev/null; }
may_install() { [ "${CI:-}" = true ] || [ "${CDC_CONFORMANCE_INSTALL:-}" = 1 ]; }

stop() {
    ours || { rm -f "$pid_file"; return 0; }
    pid=$(cat "$pid_file")
    kill "$pid" 2>/dev/null
    tries=0
    # A process that has ended, and that nobody has waited for, still answers `kill -0`; it has no command line.
    while ours; do
        tries=$((tries + 1))
        [ "$tries" -eq 200 ] && kill -9 "$pid" 2>/dev/null
        [ "$tries" -gt 220 ] && fail "dockerd ($pid) does not end"
        sleep 0.1
    done
    rm -f "$pid_file"
}

start() {
    # A stale pid file of a killed engine prevents the next start.
    if [ -f /var/run/docker.pid ] && ! kill -0 "$(cat /var/run/docker.pid)" 2>/dev/null; then rm -f /var/run/docker.pid; fi
    # A separate session: Ctrl-C on the terminal must not reach the engine.
    setsid dockerd --storage-driver="$1" >>"$log" 2>&1 </dev/null &
    echo $! >"$pid_file"
    tries=0
    until answers; do
        tries=$((tries + 1))
        kill -0 "$(cat "$pid_file")" 2>/dev/null || { rm -f "$pid_file"; return 1; }
        [ "$tries" -gt 300 ] && { stop; return 1; }
        sleep 0.2
    done
}

if [ "${1:-}" = stop ]; then
    stop
    exit 0
fi
[ $# -eq 0 ] || fail "usage: docker.sh [stop]"

if answers; then
    say "an engine answers: $(docker info --format '{{.ServerVersion}}, {{.Driver}}' 2>/dev/null)"
    exit 0
fi

if ! command -v dockerd >/dev/null 2>&1; then
    may_install || fail "docker.io is not installed. Install it, or set CDC_CONFORMANCE_INSTALL=1 to have this script do it by apt-get."
    command -v apt-get >/dev/null 2>&1 || fail "docker.io is not installed, and there is no apt-get to install it with"
    [ "$(id -u)" -eq 0 ] || fail "installing docker.io needs root"
    say "installing docker.io"
    apt-get update -qq >&2 || fail "apt-get update failed"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io iptables ca-certificates >&2 \
        || fail "apt-get install failed"
    answers && exit 0
fi

[ "$(id -u)" -eq 0 ] || fail "no engine answers, and starting dockerd needs root"
: >"$log" || fail "cannot write $log"
for driver in overlay2 vfs; do
    say "starting dockerd with storage driver $driver"
    if start "$driver"; then
        say "an engine answers: $(docker info --format '{{.ServerVersion}}, {{.Driver}}' 2>/dev/null)"
        exit 0
    fi
done
say "dockerd does not start; the end of $log:"
tail -n 15 "$log" >&2
exit 1
