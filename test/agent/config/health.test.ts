import { expect, test } from '@jest/globals';
import { parseAgentConfig } from '../../../src/agent/config/parse-config.ts';
import { problemLine } from '../../../src/agent/config/problem.ts';

/** The settings that result from a tunnel's table `health`, or the error that the operator gets. */
function healthOf(table: string, head = '[tunnels.web]\ntype = "tcp"\ntargets = ["80"]'): unknown {
  const parsed = parseAgentConfig(`${head}\n[tunnels.web.health]\n${table}`);
  if ('problems' in parsed) return parsed.problems.map((problem) => problemLine('a.toml', problem));
  const { web } = parsed.config.tunnels;
  return web && 'health' in web ? web.health : undefined;
}

test('an empty table is a TCP check with the defaults', () => {
  expect(healthOf('')).toEqual({ type: 'tcp', intervalMs: 10_000, timeoutMs: 3000, maxFailed: 3, path: '' });
});

test('an HTTP check requests / by default', () => {
  expect(healthOf('type = "http"\ninterval = 1\ntimeout = 2\nmax_failed = 1')).toEqual({
    type: 'http',
    intervalMs: 1000,
    timeoutMs: 2000,
    maxFailed: 1,
    path: '/',
  });
  expect(healthOf('type = "http"\npath = "/healthz?full=1"')).toMatchObject({ path: '/healthz?full=1' });
});

test.each(['secret', 'p2p'])('tunnels of type %s may have one, hosts too', (type) => {
  expect(healthOf('', `[tunnels.web]\ntype = "${type}"\npassword = "p"\ntargets = ["80"]`)).toMatchObject({ type: 'tcp' });
  expect(parseAgentConfig('[hosts.a]\nhost = "a.example"\ntargets = ["80"]\nhealth = { type = "http" }')).toMatchObject({
    config: { hosts: { a: { health: { path: '/' } } } },
  });
});

test.each([
  ['type = "ping"', 'a.toml:5: tunnels.web.health.type: must be "tcp" or "http"'],
  ['interval = 0', 'a.toml:5: tunnels.web.health.interval: must be at least 1 s'],
  ['interval = 3601', 'a.toml:5: tunnels.web.health.interval: must be at most 3600 s'],
  ['interval = 1.5', 'a.toml:5: tunnels.web.health.interval: must be whole seconds'],
  ['interval = "10s"', 'a.toml:5: tunnels.web.health.interval: must be whole seconds'],
  ['timeout = 61', 'a.toml:5: tunnels.web.health.timeout: must be at most 60 s'],
  ['max_failed = 0', 'a.toml:5: tunnels.web.health.max_failed: must be at least 1'],
  ['max_failed = 101', 'a.toml:5: tunnels.web.health.max_failed: must be at most 100'],
  ['path = "/x"', 'a.toml:5: tunnels.web.health.path: is for checks of type "http" only'],
  ['type = "http"\npath = "x"', 'a.toml:6: tunnels.web.health.path: must be a path such as "/healthz", without blanks'],
  ['type = "http"\npath = "/a b"', 'a.toml:6: tunnels.web.health.path: must be a path such as "/healthz", without blanks'],
  ['type = "http"\npath = "/a\\r\\nX: 1"', 'a.toml:6: tunnels.web.health.path: must be a path such as "/healthz", without blanks'],
  ['retries = 1', 'a.toml:5: tunnels.web.health.retries: unknown key'],
])('%j is refused by the name of the field', (table, problem) => {
  expect(healthOf(table)).toEqual([problem]);
});

test('tunnels whose targets speak no TCP, or that have none, have no health checks', () => {
  expect(healthOf('', '[tunnels.web]\ntype = "udp"\ntargets = ["53"]')).toEqual(['a.toml:4: tunnels.web.health: only for tunnels of type tcp, secret, p2p']);
  expect(healthOf('', '[tunnels.web]\ntype = "socks5"')).toEqual(['a.toml:3: tunnels.web.health: only for tunnels of type tcp, secret, p2p']);
});
