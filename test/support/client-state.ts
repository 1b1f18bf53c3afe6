import type { ClientState } from '../../src/engine/face.ts';

/** The running state of a client whose agent is connected. */
export function onlineState(state: Partial<ClientState> = {}): ClientState {
  return {
    connected: true,
    connectedSince: 1,
    lastHeardAt: 1,
    secure: true,
    end: null,
    address: '203.0.113.9',
    localAddress: '',
    version: '1',
    connections: 0,
    refusals: {},
    rate: 0,
    inletRate: 0,
    exportRate: 0,
    inletBytes: 0,
    exportBytes: 0,
    lastOnlineAt: 1,
    ...state,
  };
}
