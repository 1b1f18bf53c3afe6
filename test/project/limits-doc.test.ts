import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { DIAL_TIMEOUTS } from '../../src/agent/dial-bridge.ts';
import { API_SHARES } from '../../src/api-server.ts';
import { ACME_TIMING } from '../../src/engine/acme/acme-timing.ts';
import { PLACE_LIMITS } from '../../src/engine/bridge/handshake-places.ts';
import { MAX_STREAMS } from '../../src/engine/bridge/bridge-session.ts';
import { HEAD_LIMITS } from '../../src/engine/http/head.ts';
import { DIRECT_BYTES_PER_MS } from '../../src/engine/limits/direct-traffic.ts';
import { VISITOR_SHARES } from '../../src/engine/limits/visitors.ts';
import { PROXY_TIMING } from '../../src/engine/tunnels/proxy-timing.ts';
import { PROXY_SHARES } from '../../src/engine/tunnels/proxy-visitors.ts';
import { VHOST_TIMING } from '../../src/engine/vhost/slow-visitors.ts';
import { HANDSHAKE_MS, UNFINISHED } from '../../src/engine/vhost/tls/https-front.ts';
import { VHOST_SHARES } from '../../src/engine/vhost/vhost-server.ts';
import { eventCostPerSecond } from '../../src/http/event-results.ts';
import { limits } from '../../src/http/graphql-limits.ts';
import { PIPELINED_MOST } from '../../src/http/one-at-a-time.ts';
import { stalledMs } from '../../src/http/server.ts';
import { bodyLimit, usualBody } from '../../src/legacy/large-bodies.ts';
import { EXPIRING_DAYS } from '../../src/rules/certificate.ts';
import type { ShareLimits } from '../../src/rules/connection-shares.ts';
import { PENALTY_RULES } from '../../src/rules/penalties.ts';
import { PROBE_TARGETS } from '../../src/schema/diagnosis/probe.ts';
import { searchLimits, slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { resultLimits } from '../../src/schema/limits/result-limits.ts';
import { rowLimits } from '../../src/schema/lists/page.ts';
import { TICKET_SECRET_MS } from '../../src/settings/ticket-secret.ts';
import { searchMs } from '../../src/store/hot/reader.ts';
import { NODE_DEAD_MS } from '../../src/store/nodes.ts';
import { LOCK_WAIT_MS, SHORT_LOCK_WAIT_MS } from '../../src/store/prisma-options.ts';
import { LONG_CHARACTERS } from '../../src/store/search/segment.ts';
import { MOST_PREPARED } from '../../src/store/sqlite/hot-connection.ts';
import { MAX_WAITING } from '../../src/wire/datagram-socket.ts';
import { DECLARED_AT_ONCE, MAX_DECLARED } from '../../src/wire/declared.ts';
import { TUNED } from '../../src/wire/net-socket.ts';
import { NODE_SESSION } from '../../src/wire/node-messages.ts';
import { MOST_WAITING } from '../../src/wire/outbox.ts';
import { OVERVIEW_MS } from '../../src/wire/overview.ts';
import { HALF_CLOSED_MS } from '../../src/wire/socket.ts';
import { LOOK_MS } from '../../src/wire/socket-watch.ts';
import { START_CREDIT, WINDOW } from '../../src/wire/stream.ts';
import { UNREAD } from '../../src/wire/unread-budget.ts';

const n = (number: number) => number.toLocaleString('en');
const kb = (bytes: number) => `${bytes / 1024} KB`;
const mb = (bytes: number) => `${bytes / 1024 / 1024} MB`;
const s = (ms: number) => `${ms / 1000} s`;
const shares = ({ total, perAddress }: ShareLimits) => `| ${n(total)} | ${n(perAddress)} |`;

/** Other suites show what these limits do, many of them with the same constants: here is what the constants are. */
const figures = {
  'limits.md': [
    `rows of a GraphQL list | ${rowLimits.normal} without \`limit\`, ${rowLimits.most} at most |`,
    `\`changeHosts\` | ${rowLimits.most}, 16 in a transaction |`,
    `targets of \`probeTargets\` | ${PROBE_TARGETS}, `,
    `\`retryAcme\` | ${ACME_TIMING.retriesPerHour} per hour for a name |`,
    `values that an operation could return | ${n(limits.cost)};`,
    `the same for each event of a subscription | ${n(limits.eventCost)} |`,
    `values of a caller's events in a second | ${n(eventCostPerSecond)} |`,
    `rows and characters of a result | ${n(resultLimits.rows)} and ${n(resultLimits.characters)}, `,
    `whichever of their fields it asks for | ${n(resultLimits.rows)} rows of lists and ${n(resultLimits.read)} characters;`,
    `operations of a caller at a time | ${slotLimits.running} under way until their result is sent, ${slotLimits.waiting} waiting;`,
    `a reader that does not read its response | ${s(stalledMs)} |`,
    `earlier request of their connection (pipelining) | ${PIPELINED_MOST} |`,
    `body of a request to the legacy API | ${mb(bodyLimit)} for administrators, ${kb(usualBody)} for others |`,
    `bodies over ${kb(usualBody)} that are held`,
    `head of a request to a host | ${kb(HEAD_LIMITS.bytes)}, ${HEAD_LIMITS.fields} fields (settings) |`,
    `head of a response | ${kb(HEAD_LIMITS.bytes)}, ${HEAD_LIMITS.fields} fields |`,
    `probes each such connection every ${s(LOOK_MS)}`,
    `TCP keep-alive: ${s(TUNED.keepAliveInitialDelay)} without traffic`,
    `\`ADIT_HALF_CLOSED_SECONDS\`, ${HALF_CLOSED_MS / 60_000} minutes |`,
    `a visitor that reads nothing for ${s(VHOST_TIMING.stallMs)} is disconnected`,
    `a session that reads nothing for ${s(VHOST_TIMING.stallMs)} is disconnected`,
    `after ${s(PROXY_TIMING.takeMs)} the visitor is disconnected`,
    `idle ones, HTTP/2 sessions and their requests included ${shares(VHOST_SHARES)}`,
    `HTTPS, before the end of the handshake (${s(HANDSHAKE_MS)}) ${shares(UNFINISHED)}`,
    `connections that a tunnel or host carries to its targets, UDP sessions included ${shares(VISITOR_SHARES)}`,
    `visitors of one proxy that no stream carries ${shares(PROXY_SHARES)}`,
    `the bridge, unfinished handshakes (also below) ${shares(PLACE_LIMITS)}`,
    `the HTTP API ${shares(API_SHARES)}`,
    `beyond ${kb(MAX_WAITING)} queued for a tunnel, datagrams are dropped`,
    `a peer that doesn't read | ${mb(MOST_WAITING.inAll)} (twice`,
    `before new streams are opened to it | ${mb(MOST_WAITING.forOpening)} |`,
    `${1000 / OVERVIEW_MS} overviews a second | an earlier request gets its response after ${OVERVIEW_MS} ms;`,
    `of a session | ${mb(UNREAD.tight)}, then each stream has a window of 256 KB instead of ${mb(WINDOW)}; ${mb(UNREAD.most)} in all |`,
    `that has read nothing yet | ${kb(START_CREDIT)}; the window grows by the bytes read, up to ${mb(WINDOW)}.`,
    `connections of a visitor program | ${n(MAX_STREAMS)} open;`,
    `unfinished handshakes | ${n(PLACE_LIMITS.total)}; ${n(PLACE_LIMITS.perAddress)} from one address |`,
    `kept the server waiting longest, if more than ${s(PLACE_LIMITS.minAgeMs)}, is evicted`,
    `wrong keys from one address in ${PENALTY_RULES.expiry / 60_000} minutes | a burst of ${PENALTY_RULES.free}, `
    + `then one every ${PENALTY_RULES.firstDelay / 1000} s to ${s(PENALTY_RULES.longestDelay)};`,
    `don't wait until there were ${PENALTY_RULES.freeForKnown} |`,
    `records that it declares | ${DECLARED_AT_ONCE * 2}; ${n(MAX_DECLARED)} |`,
    `for direct paths | ${DIRECT_BYTES_PER_MS * 8 / 1e6} Gbit/s in each direction`,
    `a dial times out after ${s(DIAL_TIMEOUTS.connectMs)}.`,
    `lock on the database | ${s(LOCK_WAIT_MS)}; then ${SHORT_LOCK_WAIT_MS} ms for each further write`,
    `filter without an index | ${s(searchMs)} |`,
    `a row's texts in memory | ${n(LONG_CHARACTERS)} characters |`,
    `connection for lists | ${MOST_PREPARED} (SQLite);`,
    `such filters of one caller at a time | ${searchLimits.running}, and ${searchLimits.waiting} that wait |`,
    `until a server counts as dead | ${s(NODE_DEAD_MS)} |`,
    `| ${
      n(NODE_SESSION.ofSeveralClients.most)
    } for each direction in which one dials the other, of which each side uses ${NODE_SESSION.ofSeveralClients.ofOwner} for`,
    `silence of another server | ${s(NODE_SESSION.silenceMs)} |`,
  ],
  'hosts.md': [
    `replaced after ${TICKET_SECRET_MS / 3_600_000} hours`,
    `fewer than ${EXPIRING_DAYS} days remain`,
    `tries again after ${ACME_TIMING.backoffMs / 60_000} minutes`,
    `${ACME_TIMING.atOnce} concurrent orders, ${ACME_TIMING.perHour} per hour,`,
  ],
};

test.each(Object.entries(figures))('the figures of docs/%s are those of the program', (name, texts) => {
  const document = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
  expect(texts.filter((text) => !document.includes(text))).toEqual([]);
});
