#!/usr/bin/env bash
# The step of action.yml that judges: installs the package beside the action into an environment of its own, runs it, and appends the
# report to the job's summary. Its inputs are the variables that action.yml names; PACKAGE names another package to install, "" none.
set -euo pipefail

die() { echo "::error::$*"; exit 2; }

[[ -n "${FORMATS:-}" ]] || die "formats: name at least one format, or --all"
[[ -z "${REQUIREMENTS:-}" || -f "$REQUIREMENTS" ]] || die "requirements: there is no file $REQUIREMENTS"
[[ -z "${EXPECT:-}" || -f "$EXPECT" ]] || die "expect: there is no file $EXPECT"

package="${PACKAGE-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
if [[ -n "$package" ]]; then
  python -m venv --system-site-packages "${RUNNER_TEMP:-/tmp}/cdc-conformance"
  PATH="${RUNNER_TEMP:-/tmp}/cdc-conformance/bin:$PATH"
  pip install --quiet "$package" ${REQUIREMENTS:+-r "$REQUIREMENTS"}
fi

read -ra formats <<<"$FORMATS"
eval "more=(${ARGUMENTS:-})" # options with quotes, written by the workflow's author
status=0
cdc-conformance run "${formats[@]}" ${DECODER:+--decoder "$DECODER"} --budget "${BUDGET:-ci}" --broker "${BROKER:-none}" \
  ${EXPECT:+--expect "$EXPECT"} --report "${REPORT:=conformance-report}" "${more[@]}" || status=$?
[[ ! -f "$REPORT/report.md" ]] || cat "$REPORT/report.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
echo "exit-code=$status" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
