#!/bin/sh
# Makes sure that the servers that `cdc-conformance record` starts are there: MariaDB, PostgreSQL with hstore, and a JDK.
#
# Packages are installed only with CI=true or CDC_CONFORMANCE_INSTALL=1, as root on Debian or Ubuntu; no service is started.
set -u

say() { echo "databases.sh: $*" >&2; }
fail() { say "$*"; exit 1; }
have() { PATH="$PATH:/usr/sbin:$(echo /usr/lib/postgresql/*/bin | tr ' ' ':')" command -v "$1" >/dev/null 2>&1; }
may_install() { [ "${CI:-}" = true ] || [ "${CDC_CONFORMANCE_INSTALL:-}" = 1 ]; }

missing=
have mariadbd && have mariadb-install-db && have mariadb || missing="$missing mariadb-server"
have initdb && have postgres && have psql || missing="$missing postgresql"
have javac || missing="$missing openjdk-17-jdk-headless"
if [ -z "$missing" ]; then
    say "all programs are there"
    exit 0
fi
may_install || fail "missing:$missing. Install them, or set CDC_CONFORMANCE_INSTALL=1 and run this as root"
[ "$(id -u)" -eq 0 ] || fail "only root can install$missing"
have apt-get || fail "no apt-get to install$missing"

# Debian starts a service when its package is installed, unless this file says no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" || fail "cannot write $policy"
    trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
# The packaged PostgreSQL would make a cluster of its own.
mkdir -p /etc/postgresql-common/createcluster.d
echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/cdc-conformance.conf
apt-get update -qq || fail "apt-get update failed"
# shellcheck disable=SC2086 - a list of packages
apt-get install -y -qq --no-install-recommends $missing >/dev/null || fail "installing$missing failed"
rm -f /etc/postgresql-common/createcluster.d/cdc-conformance.conf
say "installed$missing"
