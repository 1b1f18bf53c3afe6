#!/bin/sh
# Installs Adit's agent on this machine and runs it as a service. This script contains no key: it exchanges the code that you give it for one, and a code works
# for one machine only.
#
#   ... | sh -s -- CODE                 installs the agent, or checks what this code has installed
#   ... | sh -s -- uninstall            stops and removes the agent, but keeps its key
#   ... | sh -s -- uninstall --purge    removes its key, too
set -eu
umask 022

# The server fills these in: where it is, the pin of its key if no authority signed its certificate, and the checksums of its files.
url='@URL@'
pin='@PIN@'
sums='@SUMS@'

# For packagers and tests: installs below this directory, without a service.
root=${DESTDIR:-}
library=$root/usr/local/lib/adit-agent
settings=$root/etc/adit-agent
command=$root/usr/local/bin/adit-agent

say() {
  printf 'adit: %s\n' "$1"
}

fail() {
  printf 'adit: %s\n' "$1" >&2
  exit 1
}

# curl, with the server's key pinned where its certificate proves nothing.
fetch() {
  if [ -n "$pin" ]; then
    curl --silent --show-error --proto '=https' --insecure --pinnedpubkey "$pin" "$@"
  else
    curl --silent --show-error --proto '=https' "$@"
  fi
}

checksum_of() {
  printf '%s\n' "$sums" | while read -r sum name; do
    if [ "$name" = "$1" ]; then printf '%s' "$sum"; fi
  done
}

# The service can't read home directories, so a Node there is of no use.
usable_node() {
  node=$(command -v node) || return 1
  case $(readlink -f "$node") in /home/* | /root/*) return 1 ;; esac
  "$node" -e 'var v = process.versions.node.split(".").map(Number); process.exit(v[0] > 20 || (v[0] === 20 && v[1] >= 19) ? 0 : 1)'
}

choose_file() {
  if usable_node; then
    file=adit-agent.mjs
    return
  fi
  case $(uname -m) in
    x86_64) file=adit-agent-linux-x64 ;;
    aarch64) file=adit-agent-linux-arm64 ;;
    *) file=none ;;
  esac
  if [ -z "$(checksum_of "$file")" ]; then
    fail "this machine has no Node 20.19 or newer, and the server has no executable for $(uname -m): install Node, or put the executables of Adit's release into the directory 'agent' of the server's data directory"
  fi
}

download() {
  fetch --fail --location --output "$work/$file" "$url/agent/$file" || fail "$file can't be downloaded: nothing was installed"
  printf '%s  %s\n' "$(checksum_of "$file")" "$work/$file" | sha256sum -c - >/dev/null 2>&1 ||
    fail "$file has another checksum than the server's: nothing was installed"
  if [ "$file" = adit-agent.mjs ]; then return; fi
  chmod 755 "$work/$file"
  "$work/$file" --version >/dev/null ||
    fail "$file does not run on this machine: nothing was installed. It needs glibc 2.28 or newer, libstdc++ and libatomic (on Debian: the package libatomic1)"
}

# The server gives the key to the machine that knows this secret as often as it asks, because a response may get lost.
enrol() {
  mkdir -p "$settings"
  chmod 700 "$settings"
  if [ ! -s "$settings/machine" ]; then
    (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$settings/machine")
  fi
  status=$(fetch --output "$work/answer" --write-out '%{http_code}' --data-urlencode "code=$code" --data-urlencode "machine@$settings/machine" "$url/agent/enrol") ||
    fail 'the server does not answer: nothing was installed. Run the same line again'
  if [ "$status" != 200 ]; then
    if [ ! -e "$settings/vkey" ]; then rm -rf "$settings"; fi
    fail "$(head -c 500 "$work/answer" | tr -cd '[:print:]'): nothing was installed"
  fi
  # A key may have several lines, which must not pass for others.
  server=$(sed -n '1s/^server=//p' "$work/answer")
  fingerprint=$(sed -n '2s/^fingerprint=//p' "$work/answer")
  case $server in '' | *[!A-Za-z0-9.:_-]*) case $server in \[*\]:*) ;; *) fail 'the server sent an invalid address' ;; esac ;; esac
  case $fingerprint in '' | *[!0-9a-f]*) fail 'the server sent an invalid fingerprint' ;; esac
  (umask 077 && sed '1,2d; 3s/^vkey=//' "$work/answer" >"$settings/vkey")
  printf 'server=%s\nfingerprint=%s\n' "$server" "$fingerprint" >"$settings/server"
}

place_files() {
  mkdir -p "$library" "${command%/*}"
  if [ "$file" = adit-agent.mjs ]; then
    cp "$work/$file" "$library/$file"
    printf '#!/bin/sh\nexec %s /usr/local/lib/adit-agent/adit-agent.mjs "$@"\n' "$node" >"$work/adit-agent"
  else
    mv "$work/$file" "$work/adit-agent"
  fi
  # A running program can't be overwritten, but replaced.
  cp "$work/adit-agent" "$library/adit-agent.new"
  chmod 755 "$library/adit-agent.new"
  mv "$library/adit-agent.new" "$library/adit-agent"
  ln -sf /usr/local/lib/adit-agent/adit-agent "$command"
}

start_service() {
  if [ -n "$root" ]; then return; fi
  server=$(sed -n 's/^server=//p' "$settings/server")
  fingerprint=$(sed -n 's/^fingerprint=//p' "$settings/server")
  "$library/adit-agent" service install agent --server "$server" --tls-fingerprint "$fingerprint" --vkey-file "$settings/vkey"
}

install() {
  code=$1
  if [ "$(id -u)" != 0 ] && [ -z "$root" ]; then fail 'run this as root: | sudo sh -s -- CODE'; fi
  for program in curl sha256sum sed od mktemp; do
    command -v "$program" >/dev/null || fail "$program is missing"
  done
  digest=$(printf '%s' "$code" | sha256sum | cut -d ' ' -f 1)
  if [ -x "$library/adit-agent" ] && [ "$(cat "$settings/enrolment" 2>/dev/null)" = "$digest" ]; then
    start_service
    say 'this code has already installed the agent here'
    return
  fi
  # Programs may not run in the directory of temporary files.
  mkdir -p "${library%/*}"
  work=$(mktemp -d "$library.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  choose_file
  download
  enrol
  place_files
  start_service
  printf '%s\n' "$digest" >"$settings/enrolment"
  say "the agent is installed: it connects to $server"
}

uninstall() {
  if [ "$(id -u)" != 0 ] && [ -z "$root" ]; then fail 'run this as root'; fi
  if [ -x "$library/adit-agent" ] && [ -z "$root" ]; then "$library/adit-agent" service uninstall agent; fi
  rm -rf "$library"
  rm -f "$command"
  if [ "${1:-}" = --purge ]; then
    rm -rf "$settings"
    say 'the agent and its key are removed'
  else
    say "the agent is removed; its key is still in $settings"
  fi
}

main() {
  case ${1:-} in
    '' | -*) fail 'give the code: sh -s -- CODE, or: sh -s -- uninstall [--purge]' ;;
    uninstall) uninstall "${2:-}" ;;
    *) install "$1" ;;
  esac
}

# At the end, so that a script that arrived in part does nothing.
main "$@"
