#!/usr/bin/env bash
# Write a report about a platform repository, in Markdown for a pull request: check, tests, validation, and, if there is a
# kubeconfig, the plan of what merging would change in the control plane.
#
#   report.sh [REPORT]            by default crossply-report.md
#
# Environment (all optional):
#   CROSSPLY_CHECK       what to check, or "none"                          default: all, if apis or examples exists
#   CROSSPLY_TESTS       directories with tests of Compositions            default: tests, if it exists
#   CROSSPLY_SCHEMAS     definitions, CRDs, packages to validate against   default: apis, if it exists
#   CROSSPLY_RESOURCES   resources to validate                             default: examples, if it exists
#   CROSSPLY_PLAN        files to plan                                     default: apis, if it exists
#   KUBECONFIG           the control plane to plan for; without it, there is no plan
#
# On GitHub, findings of the check are also printed as annotations of lines.
# Exit code: 1 if the check, a test or the validation fails, or if applying would fail, else 0. A plan with changes is no failure.
set -uo pipefail
report=${1:-crossply-report.md}
result=0

present() { # present VALUE DEFAULT...: the value, or the first default that exists
    [ -z "$1" ] || { echo "$1"; return; }
    shift
    for path in "$@"; do [ -e "$path" ] && { echo "$path"; return; }; done
}

section() { # section TITLE OK_CODES COMMAND...: run a command, and add its output
    local title=$1 allowed=$2 output code
    shift 2
    output=$("$@" 2>&1)
    code=$?
    local sign="✅"
    case " $allowed " in
    *" $code "*) ;;
    *) sign="❌"; result=1 ;;
    esac
    {
        echo "### $sign $title"
        echo
        echo '<details><summary><code>'"$*"'</code></summary>'
        echo
        # Four backticks more than any line of the output could close; tests print what users wrote.
        echo '``````text'
        printf '%s\n' "$output" | sed 's/``````/` ` ` ` ` `/g' | tail -n 400 | cut -c 1-400
        echo '``````'
        echo
        echo '</details>'
        echo
    } >>"$report"
}

check=${CROSSPLY_CHECK:-}
[ -n "$check" ] || [ -z "$(present "" apis examples)" ] || check=.
[ "$check" != none ] || check=
tests=$(present "${CROSSPLY_TESTS:-}" tests)
schemas=$(present "${CROSSPLY_SCHEMAS:-}" apis)
resources=$(present "${CROSSPLY_RESOURCES:-}" examples)
plan=$(present "${CROSSPLY_PLAN:-}" apis)

export NO_COLOR=1
printf '## Crossply\n\n' >"$report"
[ -z "$check" ] || section "Check" "0" crossply check $check
[ -z "$check" ] || [ -z "${GITHUB_ACTIONS:-}" ] || crossply check -o github $check
[ -z "$tests" ] || section "Tests" "0" crossply test $tests
[ -z "$schemas" ] || [ -z "$resources" ] || section "Validation" "0" crossply validate "$schemas" "$resources"
[ -z "$plan" ] || [ -z "${KUBECONFIG:-}" ] || section "Plan" "0 3" crossply plan $plan
grep -q '^###' "$report" || echo "Nothing to check: there is none of tests, apis and examples." >>"$report"
exit $result
