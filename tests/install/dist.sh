#!/bin/sh
# `meson dist` makes an archive that configures and compiles on its own. usage: dist.sh BUILD_ROOT
command -v git >/dev/null || { echo "git is not installed"; exit 77; }
git -C "$(dirname -- "$0")" rev-parse HEAD >/dev/null 2>&1 || { echo "not a git tree: meson dist needs one"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
meson dist -C "$1" --no-tests --formats gztar --allow-dirty >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
archive=$(ls -t "$1"/meson-dist/*.tar.gz | head -n 1)
tar -C "$work" -xf "$archive" && cd "$work"/hotlane-* &&
    meson setup build -Db_lto=false -Dbuildtype=plain >"$work/log" 2>&1 && ninja -C build >>"$work/log" 2>&1 ||
    { tail -n 40 "$work/log"; exit 1; }
echo "ok: $(basename "$archive") configures and compiles"
