#!/bin/sh
# Installs the Debian packages named on the command line that are not there yet. COMMAND:PACKAGE is wanted only where
# the command is missing, wherever it comes from.
set -eu

missing=""
for package in "$@"; do
    case $package in
    *:*)
        ! command -v "${package%%:*}" >/dev/null || continue
        package=${package#*:}
        ;;
    esac
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "== installing:$missing"
if [ "$(id -u)" = 0 ]; then
    root=""
elif command -v sudo >/dev/null; then
    root="sudo"
else
    echo "make deps: needs root or sudo to run: apt-get install$missing" >&2
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $root apt-get update -qq &&
       $root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    echo "make deps: apt-get could not install:$missing" >&2
    exit 1
fi
