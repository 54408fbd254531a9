#!/bin/sh
# Backs up the embedded databases and the encryption key. Stop the service first.
# Usage: deploy/backup.sh DATA_DIRECTORY FILE.tar.gz
set -eu
if [ $# -ne 2 ]; then
  echo 'Usage: deploy/backup.sh DATA_DIRECTORY FILE.tar.gz' >&2
  exit 2
fi
data=$(cd "$1" && pwd)
file=$2
umask 077

if [ -e "$data/postgres-address.json" ]; then
  echo "The service uses $data, or did not stop cleanly. Stop it; if it is stopped, start and stop it once." >&2
  exit 1
fi

set -- -C "$data" --exclude=./lock --exclude=./exports .
# When root runs the service, PostgreSQL's data may be elsewhere.
if [ -f "$data/postgres-location" ]; then
  cluster=$(cat "$data/postgres-location")
  set -- "$@" -C "$(dirname "$cluster")" --transform='s,^cluster,outside-cluster,' cluster
fi
tar -czf "$file.unfinished" "$@"
mv "$file.unfinished" "$file"
echo "Backed up $data to $file"
