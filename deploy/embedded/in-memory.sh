#!/usr/bin/env bash
# Runs a command whose temporary files are in memory, where there is room: the engines of tests write thousands of small
# files that outlive nothing, and wait for the disk a third of their time.
#
#   in-memory.sh COMMAND [ARGUMENT ...]
#
# The command finds the folder in TMPDIR; it goes when the command ends, and that of one that was killed at the next run.
# What Go builds for the time of a run lies there too: tests would have their folders elsewhere, if GOTMPDIR were set, so
# where it is set nothing is different. Nor is it where /dev/shm may hold less than 8 GB, as in most containers, or runs no
# program, or the machine or its container has less than 12 GB of memory left, of which the engines take four.
set -euo pipefail
least() { printf '%s\n' "$@" | sort -n | head -1; }
group=/sys/fs/cgroup
holds=$(df -k --output=avail /dev/shm 2>/dev/null | tail -1 || true)
memory=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || true)
if limit=$(cat $group/memory.max 2>/dev/null) && [ "$limit" != max ]; then
  memory=$(least "${memory:-0}" $(((limit - $(cat $group/memory.current)) >> 10)))
fi
for old in /dev/shm/motorpool-*-??????; do
  pid=${old#*motorpool-}
  if [ -O "$old" ] && ! kill -0 "${pid%-*}" 2>/dev/null; then rm -rf "$old"; fi
done
if [ -n "${GOTMPDIR:-}" ] || [ "${holds:-0}" -lt $((8 << 20)) ] || [ "${memory:-0}" -lt $((12 << 20)) ] ||
  ! dir=$(mktemp -d "/dev/shm/motorpool-$$-XXXXXX" 2>/dev/null); then
  exec "$@"
fi
trap 'rm -rf "$dir"' EXIT
printf '#!/bin/sh\n' >"$dir/try"
chmod +x "$dir/try"
if "$dir/try" 2>/dev/null; then
  export TMPDIR=$dir
  echo "temporary files are in memory: $dir" >&2
fi

set -m # a group of its own, which is told to end as this is
"$@" &
child=$!
trap 'kill -TERM -- "-$child" 2>/dev/null' INT TERM
code=0
wait "$child" || code=$?
while kill -0 "$child" 2>/dev/null; do # a signal has ended the wait
  wait "$child" || code=$?
done
exit "$code"
