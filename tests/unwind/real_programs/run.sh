#!/bin/sh
# run.sh PRELOAD SHOW EVERY MIN_WALKS PROGRAM ARGS...: runs the program with the preload library, which
# walks at every EVERYth malloc, and judges its reports. Exit code 77 (skipped) if the program is not
# installed.
preload=$1 show=$2 every=$3 min_walks=$4
shift 4
if ! command -v "$1" >/dev/null 2>&1; then
  echo "skipped: $1 is not installed here"
  exit 77
fi
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/out"
if ! (cd "$dir/out" && HG_REPORT="$dir/report" HG_EVERY="$every" \
    LD_PRELOAD="$preload" "$@" >"$dir/stdout" 2>"$dir/stderr"); then
  echo "the program failed:"
  tail -n 20 "$dir/stderr"
  exit 1
fi
"$show" "$min_walks" "$dir"/report.*
