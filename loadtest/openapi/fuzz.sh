#!/usr/bin/env bash
# Starts a whole Motorpool in a folder of its own and has schemathesis call every operation of its OpenAPI document, with
# what the document allows and what it forbids, looking for server errors and for answers that are not documented.
#
#   loadtest/openapi/fuzz.sh MOTORPOOL SCHEMATHESIS [options of schemathesis run]
#
# Half of the calls write, of which a key may make 20 a second: what is refused for that is waited for, a minute each time.
# /v1/stream never ends, and /v1/openapi.yaml is longer than schemathesis keeps: they are left out.
set -euo pipefail
motorpool=$(realpath "$1") schemathesis=$2
shift 2
dir=$(mktemp -d)
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
export MOTORPOOL_DATA=$dir/data MOTORPOOL_HTTP=127.0.0.1:$(port) MOTORPOOL_OPS=127.0.0.1:$(port) MOTORPOOL_KAFKA=127.0.0.1:$(port)
export MOTORPOOL_CLICKHOUSE=127.0.0.1:$(port) MOTORPOOL_CLICKHOUSE_HTTP=127.0.0.1:$(port)
"$motorpool" up >"$dir/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$dir"' EXIT
for _ in $(seq 120); do
  curl -sf "http://$MOTORPOOL_OPS/readyz" >"$dir/ready" && break
  kill -0 "$server" || { cat "$dir/log"; exit 1; }
  sleep 0.5
done
key=$("$motorpool" key create --account Fuzz --scopes admin)
status=0
cd "$dir"
"$schemathesis" run "http://$MOTORPOOL_HTTP/v1/openapi.json" --header "Authorization: Bearer $key" \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance \
  --exclude-path /v1/stream --exclude-path /v1/openapi.yaml --rate-limit 25/s --continue-on-failure --request-timeout 30 --suppress-health-check all --warnings off --phases examples,coverage,fuzzing "$@" || status=$?
if grep -q '"level":"ERROR"' "$dir/log"; then
  echo "the server logged errors:" && grep '"level":"ERROR"' "$dir/log" | head -20
fi
exit "$status"
