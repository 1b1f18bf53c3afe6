/** What a service runs. */
export interface ServiceProgram {
  readonly kind: 'server' | 'agent';
  /** Node and the program's file, or an executable. */
  readonly command: readonly string[];
  /** The arguments of `adit server` or `adit agent`. */
  readonly args: readonly string[];
  /** The file with the agent's key, which only root may read; "" = none. */
  readonly keyFile: string;
}

/** The name of a service: of its unit, its init script and its user. */
export const serviceName = (kind: ServiceProgram['kind']): string => kind === 'server' ? 'adit' : 'adit-agent';

/** Where a server's data is. */
export const SERVER_DATA = '/var/lib/adit';

/** What neither program needs. V8 compiles code at run time, so MemoryDenyWriteExecute is not possible. */
const HARDENING = `NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
ProtectSystem=strict
ProtectHome=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
UMask=0077`;

/** The systemd unit of a service. */
export function systemdUnit(program: ServiceProgram): string {
  const { kind, command, args, keyFile } = program;
  const server = kind === 'server';
  const name = serviceName(kind);
  // The key is readable by root only; systemd gives the service a copy of its own.
  const words = [...command, kind, ...args, ...keyFile === '' ? [] : ['--vkey-file', '%d/vkey']];
  return `[Unit]
Description=Adit ${kind}
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
NotifyAccess=all
ExecStart=${words.map(quoted).join(' ')}
${server ? 'ExecReload=/bin/kill -HUP $MAINPID\n' : ''}WatchdogSec=60
Restart=always
RestartSec=2
${server ? 'TimeoutStopSec=60' : 'TimeoutStopSec=15'}
Environment=MALLOC_ARENA_MAX=2${server ? ` ADIT_DATA_DIR=${SERVER_DATA}` : ''}
LimitNOFILE=65536
${
    server
      ? `User=${name}
Group=${name}
StateDirectory=${name}
StateDirectoryMode=0700
ConfigurationDirectory=${name}
WorkingDirectory=${SERVER_DATA}
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE`
      : `DynamicUser=yes
User=${name}
RuntimeDirectory=${name}
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=restart
Environment=ADIT_RUNTIME_DIR=/run/${name}
${keyFile === '' ? '' : `LoadCredential=vkey:${keyFile}\n`}CapabilityBoundingSet=`
  }
${HARDENING}

[Install]
WantedBy=multi-user.target
`;
}

/** A word of ExecStart. \`%d\` stays a specifier of systemd. */
function quoted(word: string): string {
  const escaped = word.startsWith('%d/') ? word : word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w%$.:/@=,+[\]-]+$/.test(escaped) ? escaped : `"${escaped.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** The environment of a service without systemd. */
function environment(kind: ServiceProgram['kind']): string {
  return kind === 'server' ? `MALLOC_ARENA_MAX=2 ADIT_DATA_DIR=${SERVER_DATA}` : `MALLOC_ARENA_MAX=2`;
}

/** A word for a POSIX shell. */
function shellWord(word: string): string {
  return /^[\w.:/@=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The program and its arguments, for a POSIX shell; the key is in the environment. */
function shellCommand({ kind, command, args }: ServiceProgram): string {
  return [...command, kind, ...args].map(shellWord).join(' ');
}

/** The init script of a service, for machines without systemd. It restarts the program when it ends. */
export function initScript(program: ServiceProgram): string {
  const { kind, keyFile } = program;
  const name = serviceName(kind);
  return `#!/bin/sh
### BEGIN INIT INFO
# Provides:          ${name}
# Required-Start:    $network $remote_fs
# Required-Stop:     $network $remote_fs
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# Short-Description: Adit ${kind}
### END INIT INFO
set -eu

user=${name}
pidfile=/run/${name}.pid
log=/var/log/${name}.log

# The pid file names the leader of a process group: a loop that starts the program again when it ends, and the program.
running() {
  [ -s "$pidfile" ] && kill -0 "-$(cat "$pidfile")" 2>/dev/null
}

start() {
  if running; then return; fi
  rm -f "$pidfile"
  touch "$log"
  chmod 600 "$log"
  chown "$user" "$log"
${keyFile === '' ? '' : `  # Only root can read the file.\n  ADIT_VKEY=$(cat ${shellWord(keyFile)})\n  export ADIT_VKEY\n`}  export ${environment(kind)}
  # start-stop-daemon only changes the user: the file of -p never exists.
  # shellcheck disable=SC2016
  setsid start-stop-daemon -S -q -p "$pidfile.none" -c "$user" -a /bin/sh -- -c 'exec >>"$0" 2>&1 </dev/null; cd /; while :; do "$@" || true; sleep 2; done' "$log" ${
    shellCommand(program)
  } &
  echo $! >"$pidfile"
}

stop() {
  if ! running; then return; fi
  pid=$(cat "$pidfile")
  kill -TERM "-$pid"
  left=60
  while kill -0 "-$pid" 2>/dev/null && [ "$left" -gt 0 ]; do
    sleep 1
    left=$((left - 1))
  done
  kill -KILL "-$pid" 2>/dev/null || true
  rm -f "$pidfile"
}

case \${1:-} in
  start) start ;;
  stop) stop ;;
  restart | force-reload) stop; start ;;
  status) if running; then echo '${name} is running'; else echo '${name} is not running'; exit 3; fi ;;
  *) echo "usage: $0 start|stop|restart|status" >&2; exit 2 ;;
esac
`;
}

/** The init script of an agent for OpenWrt's procd. */
export function procdScript(program: ServiceProgram): string {
  const { kind, keyFile } = program;
  const key = keyFile === '' ? '' : ` ADIT_VKEY="$(cat ${shellWord(keyFile)})"`;
  return `#!/bin/sh /etc/rc.common
USE_PROCD=1
START=95
STOP=10

start_service() {
  procd_open_instance
  procd_set_param command ${shellCommand(program)}
  procd_set_param env ${environment(kind)}${key}
  procd_set_param user nobody
  procd_set_param no_new_privs 1
  procd_set_param respawn 3600 2 0
  procd_set_param stderr 1
  procd_close_instance
}
`;
}
