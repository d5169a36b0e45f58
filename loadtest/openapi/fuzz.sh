#!/usr/bin/env bash
# Has schemathesis call every operation of the OpenAPI document, with what the document allows and what it forbids, looking
# for server errors and for answers that are not documented. Runs under with-motorpool.sh.
#
#   loadtest/openapi/fuzz.sh SCHEMATHESIS [options of schemathesis run]
#
# Half of the calls write, of which a key may make 20 a second: what is refused for that is waited for, a minute each time.
# /v1/stream never ends, and /v1/openapi.yaml is longer than schemathesis keeps: they are left out.
set -euo pipefail
schemathesis=$1
shift
"$schemathesis" run "$MOTORPOOL_URL/v1/openapi.json" --header "Authorization: Bearer $MOTORPOOL_KEY" \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance \
  --exclude-path /v1/stream --exclude-path /v1/openapi.yaml --rate-limit 25/s --continue-on-failure --request-timeout 30 --suppress-health-check all --warnings off --phases examples,coverage,fuzzing "$@"
