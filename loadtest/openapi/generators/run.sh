#!/usr/bin/env bash
# Has three generators make clients of the OpenAPI document, and fails if one of them warns or makes what does not compile:
# openapi-ts (TypeScript), openapi-python-client and oapi-codegen (Go). Runs under with-motorpool.sh.
#
#   loadtest/openapi/generators/run.sh TOOLS
#
# TOOLS is a folder with what npm/ and requirements.txt pin: npm/node_modules and python/bin.
set -euo pipefail
tools=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
curl -sf "$MOTORPOOL_URL/v1/openapi.json" -o openapi.json
faults=0
quiet() { # NAME COMMAND... runs it and counts it as a fault if it fails or warns
  local name=$1
  shift
  if ! "$@" >"$name.log" 2>&1 || grep -qiE 'warning|unsupported|unable to' "$name.log"; then
    echo "$name does not take the document as it is:" && head -40 "$name.log"
    faults=1
  else
    echo "$name: no warning"
  fi
}

quiet openapi-ts "$tools/npm/node_modules/.bin/openapi-ts" -i openapi.json -o typescript
quiet tsc "$tools/npm/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler \
  --target es2022 --lib es2022,dom,dom.iterable typescript/*.ts

quiet openapi-python-client "$tools/python/bin/openapi-python-client" generate --path openapi.json --config "$here/python.yaml" --output-path python
quiet compileall "$tools/python/bin/python" -m compileall -q python

cp -r "$here/go" go
quiet oapi-codegen env -C go go tool oapi-codegen -generate types,client,skip-prune -package client -o client.go ../openapi.json
quiet go-vet env -C go go vet .
exit "$faults"
