#!/bin/sh
# Restores a backup into a new data directory. Run it as the user that runs the service, or as root.
# Usage: deploy/restore.sh FILE.tar.gz DATA_DIRECTORY
set -eu
if [ $# -ne 2 ]; then
  echo 'Usage: deploy/restore.sh FILE.tar.gz DATA_DIRECTORY' >&2
  exit 2
fi
file=$1
data=$2
umask 077

if [ -e "$data" ] && [ -n "$(ls -A "$data")" ]; then
  echo "$data is not empty. Choose a new directory, or move that one away." >&2
  exit 1
fi
mkdir -p "$data"
tar -xzf "$file" -C "$data" --same-permissions

# PostgreSQL's data was outside the data directory; it gets a new place there.
if [ -d "$data/outside-cluster" ]; then
  shared=/var/lib/customer-data-service
  mkdir -p "$shared"
  chmod 711 "$shared"
  home=$(mktemp -d "$shared/data-XXXXXXXXXXXX")
  chown --reference="$data/outside-cluster" "$home"
  mv "$data/outside-cluster" "$home/cluster"
  echo "$home/cluster" > "$data/postgres-location"
fi
echo "Restored $file to $data"
