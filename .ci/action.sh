#!/usr/bin/env bash
# The step of action.yml that judges: installs the package beside the action into an environment of its own, runs it, and appends the
# report to the job's summary. Its inputs are the variables that action.yml names; PACKAGE names another folder to install, "" none.
set -euo pipefail

die() { echo "::error::$*"; exit 2; }

# A name for the artifact and the alerts that no other job or report of the workflow has; an artifact's has no slash.
REPORT="${REPORT:-conformance-report}"
name="${NAME:-$REPORT-${JOB:-job}-${INDEX:-0}}"
echo "name=${name//[^A-Za-z0-9._-]/-}" >>"${GITHUB_OUTPUT:-/dev/null}"

[[ -n "${FORMATS:-}" ]] || die "formats: name at least one format, or --all"
[[ -z "${REQUIREMENTS:-}" || -f "$REQUIREMENTS" ]] || die "requirements: there is no file $REQUIREMENTS"
[[ -z "${EXPECT:-}" || -f "$EXPECT" ]] || die "expect: there is no file $EXPECT"

# Words with quotes, as in a shell, of which no shell makes anything else.
python="$(command -v python || command -v python3)"
split='import os, shlex, sys; sys.stdout.write("".join(f"{word}\0" for word in shlex.split(os.environ.get("ARGUMENTS", ""))))'
"$python" -c "$split" >"${RUNNER_TEMP:-/tmp}/cdc-conformance-arguments.$$" 2>/dev/null || die "arguments: a quote is not closed"
mapfile -d '' -t more <"${RUNNER_TEMP:-/tmp}/cdc-conformance-arguments.$$"
rm "${RUNNER_TEMP:-/tmp}/cdc-conformance-arguments.$$"

package="${PACKAGE-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
if [[ -n "$package" ]]; then
  "$python" -m venv --system-site-packages "${RUNNER_TEMP:-/tmp}/cdc-conformance"
  PATH="${RUNNER_TEMP:-/tmp}/cdc-conformance/bin:$PATH"
  # What is installed is locked by digest; the decoder's own requirements come last, and may name another pyspark.
  pip install --quiet --require-hashes -r "$package/requirements/run.txt"
  pip install --quiet --require-hashes -r "$package/requirements/build.txt"
  pip install --quiet --no-deps --no-build-isolation "$package"
  [[ -z "${REQUIREMENTS:-}" ]] || pip install --quiet -r "$REQUIREMENTS"
fi

read -ra formats <<<"$FORMATS"
status=0
cdc-conformance run "${formats[@]}" ${DECODER:+--decoder "$DECODER"} --budget "${BUDGET:-ci}" --broker "${BROKER:-none}" \
  ${EXPECT:+--expect "$EXPECT"} --report "$REPORT" "${more[@]}" || status=$?
[[ ! -f "$REPORT/report.md" ]] || cat "$REPORT/report.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
echo "exit-code=$status" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
