import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';

// A machine without network cards: nowhere that another program could reach it directly, so a p2p tunnel stays on the relay.
os.networkInterfaces = () => ({});
syncBuiltinESMExports();
