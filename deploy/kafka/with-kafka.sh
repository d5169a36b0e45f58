#!/usr/bin/env bash
# Runs a command with an Apache Kafka broker of its own, whose address it finds in MOTORPOOL_TEST_KAFKA.
#
#   with-kafka.sh COMMAND [ARGUMENT ...]
#
# The broker keeps its data in a temporary folder and ends with the command. Exits as the command does.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
read -r port controller_port < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])')

"$here/run.sh" "$dir" "$port" "$controller_port" >"$dir/kafka.log" 2>&1 &
kafka=$!
finish() {
  kill "$kafka" 2>/dev/null || true
  wait "$kafka" 2>/dev/null || true
  rm -rf "$dir"
}
trap finish EXIT

for _ in $(seq 600); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "Apache Kafka answers on 127.0.0.1:$port" >&2
    MOTORPOOL_TEST_KAFKA=127.0.0.1:$port "$@"
    exit
  fi
  kill -0 "$kafka" 2>/dev/null || break
  sleep 0.1
done
echo "Apache Kafka did not start:" >&2
tail -40 "$dir/kafka.log" >&2
exit 1
