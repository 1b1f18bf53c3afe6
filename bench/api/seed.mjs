import path from 'node:path';
import process from 'node:process';

// Run in the root of a checkout, with the code of that checkout, so that the database is one that its server knows.
//   node --import tsx seed.mjs DATA_DIRECTORY '{"clients": 10000, "tunnels": 0, "hosts": 0, "users": 0}'
const [dataDir, counts] = process.argv.slice(2);
const { clients, tunnels, hosts, users } = JSON.parse(counts);
const load = (file) => import(path.join(process.cwd(), file));
const [{ openStore }, seeds, { default: pino }] = await Promise.all(['src/store/store.ts', 'test/support/seed.ts', 'node_modules/pino/pino.js'].map(load));

const store = await openStore({ url: '', dataDir, log: pino({ level: 'silent' }) });
const [client] = await seeds.seedClients(store, clients);
await seeds.seedTunnels(store, client, tunnels);
await seeds.seedHosts(store, client, hosts);
await seeds.seedUsers(store, users);
await store.close();
console.log('seeded');
