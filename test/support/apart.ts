import { setImmediate } from 'node:timers/promises';
import type { EngineEvent, EngineFace } from '../../src/engine/face.ts';

/**
 * The engine as if it ran in another process: every argument and result is a structured clone, so nothing but plain data gets through,
 * and answers and events come on a later iteration of the event loop. The schema gets the engine through this in all suites.
 */
export function apart(engine: EngineFace): EngineFace {
  const across = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => async (...args: Args): Promise<Result> => {
    const sent = structuredClone(plain(args));
    await setImmediate();
    try {
      return structuredClone(plain(await call(...sent)));
    } catch (error) {
      // It is an instance of none of our classes any more.
      throw structuredClone(error);
    } finally {
      await setImmediate();
    }
  };
  return {
    get modes() {
      return structuredClone(engine.modes);
    },
    reservePort: across((request) => engine.reservePort(request)),
    releasePort: across((leaseId) => engine.releasePort(leaseId)),
    apply: across((change) => engine.apply(change)),
    wanted: across(() => engine.wanted()),
    clientStates: across((ids) => engine.clientStates(ids)),
    agentSessions: across((clientId) => engine.agentSessions(clientId)),
    tunnelStates: across((ids) => engine.tunnelStates(ids)),
    hostStates: across((ids) => engine.hostStates(ids)),
    hostCertificates: across((questions) => engine.hostCertificates(questions)),
    listedCertificates: across(() => engine.listedCertificates()),
    troubles: across(() => engine.troubles()),
    retryAcme: across((hostId) => engine.retryAcme(hostId)),
    traffic: across(() => engine.traffic()),
    connections: across((clientId, range) => engine.connections(clientId, range)),
    closeConnection: across((clientId, id) => engine.closeConnection(clientId, id)),
    clientOfVisitors: across((keyDigest) => engine.clientOfVisitors(keyDigest)),
    allowByPassword: across((clientId, address, password) => engine.allowByPassword(clientId, address, password)),
    isAllowedByPassword: across((clientId, address) => engine.isAllowedByPassword(clientId, address)),
    differentSettings: across(() => engine.differentSettings()),
    probe: across((clientId, target, timeoutMs) => engine.probe(clientId, target, timeoutMs)),
    watch: (listener) => {
      let watching = true;
      const waiting: EngineEvent[] = [];
      const stop = engine.watch((events) => {
        if (waiting.push(...structuredClone(plain(events))) > events.length) return;
        globalThis.setImmediate(() => {
          const batch = waiting.splice(0);
          if (watching) listener(batch);
        });
      });
      return () => {
        watching = false;
        stop();
      };
    },
  };
}

/** A class instance would be cloned without its methods, and nobody would notice. */
function plain<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) {
    throw new Error(`an object that is not plain data crosses the engine's face: ${Object.prototype.toString.call(value)}`);
  }
  for (const part of Object.values(value)) plain(part);
  return value;
}
