#!/bin/sh
# Imports .glb files into Godot 3 (Debian's godot3-server) and compares what it made of them.
#
#   godot.sh FOLDER LIMIT FILE.glb ...     FOLDER: for the project, made here
#
# The editor is ended once all files are imported: left alone it stays.
set -eu
folder=$1 limit=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
printf 'config_version=4\n[application]\nconfig/name="jounce"\n' >"$folder/project.godot"
cp "$here/godot.gd" "$folder/"
for file; do cp "$file" "$folder/"; done
godot3-server -e --path "$folder" >"$folder/import.log" 2>&1 &
editor=$!
for second in $(seq 240); do
    [ "$(ls "$folder/.import" 2>/dev/null | grep -c '\.glb-.*\.md5$')" -ge $# ] && break
    kill -0 $editor 2>/dev/null || break
    sleep 1
done
kill $editor 2>/dev/null || true
wait $editor 2>/dev/null || true
names=$(for file; do basename "$file"; done)
# shellcheck disable=SC2086
timeout 200 godot3-server --path "$folder" -s godot.gd $names >"$folder/dump.log" 2>&1 || true
code=0
for name in $names; do
    /usr/bin/python3 "$here/godot.py" "$name in Godot 3" "$folder/$name" "$folder/$name.bin" "$limit" || code=1
done
exit $code
