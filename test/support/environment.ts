import pino from 'pino';
import type { EngineOptions } from '../../src/engine/engine-options.ts';
import { Environment } from '../../src/engine/environment.ts';
import { covering } from './certificates.ts';

/** What the parts of an engine share, without an engine: nothing listens. */
export function environmentOf(options: Partial<EngineOptions> = {}): Environment {
  return new Environment({
    bridgeHost: '127.0.0.1',
    bridgePort: 0,
    bridgeTls: { port: 0, identity: covering },
    p2pPort: 0,
    allowPorts: [],
    log: pino({ level: 'silent' }),
    ...options,
  });
}
