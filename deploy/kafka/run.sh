#!/usr/bin/env bash
# Runs one Apache Kafka broker in the foreground until it is stopped or the
# process that started it ends.
#
#   run.sh DIR PORT [CONTROLLER_PORT]
#
# DIR keeps the data and may be used again. The broker listens on
# 127.0.0.1:PORT and its controller on CONTROLLER_PORT (PORT+1 by default).
# Needs Java 17 and the jars: mvn -q dependency:copy-dependencies
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
port=$2
controller_port=${3:-$((port + 1))}
if ! compgen -G "$here/target/lib/kafka_*.jar" >/dev/null; then
  echo "no jars in $here/target/lib: run \`mvn -q dependency:copy-dependencies\` in $here" >&2
  exit 1
fi

template=$(<"$here/server.properties")
template=${template//@DIR@/$dir}
template=${template//@PORT@/$port}
printf '%s\n' "${template//@CONTROLLER_PORT@/$controller_port}" >"$dir/server.properties"

java=(java -Xms64m "-Xmx${KAFKA_HEAP:-512m}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1
  -Dorg.slf4j.simpleLogger.defaultLogLevel="${KAFKA_LOG_LEVEL:-warn}"
  -cp "$here/target/lib/*")

# The cluster id is the same each time, so that a directory can be used again.
"${java[@]}" kafka.tools.StorageTool format --ignore-formatted \
  --cluster-id bW90b3Jwb29sLWthZmthLQ --config "$dir/server.properties" >/dev/null

# exec keeps this process id, so killing run.sh kills the broker. A broker
# whose parent is gone is killed within a second.
parent=$PPID
broker=$$
(
  while [ "$(ps -o ppid= -p "$broker" | tr -d ' ')" = "$parent" ]; do sleep 1; done
  kill -TERM "$broker" 2>/dev/null || true
) </dev/null >/dev/null 2>&1 &
exec "${java[@]}" kafka.Kafka "$dir/server.properties"
