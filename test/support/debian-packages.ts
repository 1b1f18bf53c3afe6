/** The Debian package of every program, and module of nginx, that suites and benchmarks ask for. `.ci/run` has to list each. */
export const debianPackages = {
  bash: 'bash',
  busybox: 'busybox',
  caddy: 'caddy',
  chromium: 'chromium',
  conntrack: 'conntrack',
  curl: 'curl',
  dash: 'dash',
  dig: 'bind9-dnsutils',
  h2load: 'nghttp2-client',
  haproxy: 'haproxy',
  initdb: 'postgresql',
  ip: 'iproute2',
  iperf3: 'iperf3',
  md5sum: 'coreutils',
  nft: 'nftables',
  nginx: 'nginx',
  'ngx_stream_module.so': 'libnginx-mod-stream',
  od: 'coreutils',
  pebble: 'pebble',
  'pebble-challtestsrv': 'pebble',
  python3: 'python3',
  sed: 'sed',
  setsid: 'util-linux',
  ssh: 'openssh-client',
  'ssh-keygen': 'openssh-client',
  sshd: 'openssh-server',
  'start-stop-daemon': 'dpkg',
  'systemd-analyze': 'systemd',
  wget: 'wget',
  wrk: 'wrk',
} as const satisfies Readonly<Record<string, string>>;

/** A program that a suite may ask for. */
export type Program = keyof typeof debianPackages;

/** Says which programs are missing, and what has to be done about it, on this machine and in continuous integration. */
export function missingPrograms(programs: readonly Program[]): string {
  const packages = [...new Set(programs.map((program) => debianPackages[program]))].toSorted();
  const lines = packages.map((name) => `"  ${name}"`).join(' and ');
  return `${programs.join(', ')} ${programs.length === 1 ? 'is' : 'are'} missing: run apt-get install ${
    packages.join(' ')
  }; the list of packages in .ci/run needs the ${packages.length === 1 ? 'line' : 'lines'} ${lines}`;
}
