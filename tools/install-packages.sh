#!/usr/bin/env bash
# Installs the Debian packages of the given groups (tools/packages.txt) that are missing.
#
#   tools/install-packages.sh build test
#
# Packages of a group <name>-unpacked belong to group <name>, but are only unpacked, into build/unpacked/<package>: nothing of them
# is started or enabled. Silent when nothing is missing. Uses sudo only when not root.
set -euo pipefail

list="$(dirname "$0")/packages.txt"
unpacked="$(dirname "$0")/../build/unpacked"

wanted=()
only_unpacked=()
for group in "$@"; do
  found=no
  while read -r package command; do
    found=yes
    if [[ -z $command ]] || ! command -v "$command" >/dev/null; then
      wanted+=("$package")
    fi
  done < <(awk -v group="$group" '$1 == group { print $2, $3 }' "$list")
  mapfile -t -O "${#only_unpacked[@]}" only_unpacked < <(awk -v group="$group-unpacked" '$1 == group { print $2 }' "$list")
  if [[ $found == no ]]; then
    echo "install-packages: no group '$group' in $list" >&2
    exit 2
  fi
done

if ! command -v dpkg-query >/dev/null; then
  echo "install-packages: not a Debian system; these must be there by other means: ${wanted[*]}" >&2
  exit 0
fi

# dpkg-query fails when a name is unknown to it; the names it does print are what we need.
installed="$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null |
  awk '$2 == "installed" { print $1 }' || true)"

missing=()
for package in "${wanted[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done

as_root=()

become_root() {
  [[ $(id -u) -ne 0 ]] || return 0
  if ! command -v sudo >/dev/null; then
    echo "install-packages: need root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
}

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# The package lists may be absent or old: refresh them, but an old list that works is good enough.
refresh() {
  apt update || echo "install-packages: apt-get update failed, trying with the lists at hand" >&2
}

# unpack <package>: written beside, then moved, so that a half unpacked package is not taken for a whole one.
unpack() {
  local folder="$unpacked/.$1"
  rm -rf "$folder"
  mkdir -p "$folder/files"
  (cd "$folder" && { apt-get -qq download "$1" 2>/dev/null || { refresh && apt-get -qq download "$1"; }; })
  dpkg -x "$folder"/*.deb "$folder/files"
  mv "$folder/files" "$unpacked/$1"
  rm -rf "$folder"
}

if [[ ${#missing[@]} -gt 0 ]]; then
  echo "Installing Debian packages: ${missing[*]}"
  become_root
  refresh
  apt install --yes --no-install-recommends "${missing[@]}" >/dev/null
fi
for package in "${only_unpacked[@]}"; do
  if [[ ! -d $unpacked/$package ]]; then
    echo "Unpacking the Debian package $package into build/unpacked"
    unpack "$package"
  fi
done
