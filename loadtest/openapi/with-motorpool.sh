#!/usr/bin/env bash
# Starts a whole Motorpool in a folder of its own, runs a command, and stops it.
#
#   loadtest/openapi/with-motorpool.sh MOTORPOOL COMMAND...
#
# The command finds the interface in MOTORPOOL_URL, an admin's key of the account OpenAPI in MOTORPOOL_KEY and one of another account in
# MOTORPOOL_OTHER_KEY, and the program, whose other commands find the same server, in MOTORPOOL; it runs in a folder that is removed.
# With WITH_DEMO=1 the first account is the demo's rental business, and the command begins when its two years stand. MOTORPOOL_ACCOUNT_NAME has its
# name.
set -euo pipefail
motorpool=$(realpath "$1")
shift
dir=$(mktemp -d)
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
export MOTORPOOL_DATA=$dir/data MOTORPOOL_HTTP=127.0.0.1:$(port) MOTORPOOL_OPS=127.0.0.1:$(port) MOTORPOOL_KAFKA=127.0.0.1:$(port)
export MOTORPOOL_CLICKHOUSE=127.0.0.1:$(port) MOTORPOOL_CLICKHOUSE_HTTP=127.0.0.1:$(port)
demo=${WITH_DEMO:+--demo}
"$motorpool" up $demo >"$dir/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$dir"' EXIT
for _ in $(seq 120); do
  curl -sf "http://$MOTORPOOL_OPS/readyz" >"$dir/ready" && break
  kill -0 "$server" || { cat "$dir/log"; exit 1; }
  sleep 0.5
done
for _ in $(seq 1200); do
  [ -z "$demo" ] || grep -q 'the demo has two years of bookings' "$dir/log" && stands=yes && break
  kill -0 "$server" || break
  sleep 0.5
done
[ -n "${stands:-}" ] || { cat "$dir/log"; exit 1; }
MOTORPOOL_URL=http://$MOTORPOOL_HTTP
MOTORPOOL_ACCOUNT_NAME=$([ -n "$demo" ] && echo Demo || echo OpenAPI)
MOTORPOOL_KEY=$("$motorpool" key create --account "$MOTORPOOL_ACCOUNT_NAME" --scopes admin)
MOTORPOOL_OTHER_KEY=$("$motorpool" key create --account Other --scopes admin)
export MOTORPOOL_URL MOTORPOOL_ACCOUNT_NAME MOTORPOOL_KEY MOTORPOOL_OTHER_KEY MOTORPOOL=$motorpool
status=0
mkdir "$dir/work"
(cd "$dir/work" && "$@") || status=$?
if grep -q '"level":"ERROR"' "$dir/log"; then
  echo "the server logged errors:" && grep '"level":"ERROR"' "$dir/log" | head -20
fi
exit "$status"
