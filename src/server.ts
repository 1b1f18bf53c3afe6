import https from 'node:https';
import process from 'node:process';
import { API_SHARES, createApi } from './api-server.ts';
import { type OwnProcess } from './processes/own-process.ts';
import { Departure } from './departure.ts';
import type { BridgeAddress } from './engine/bridge/bridge.ts';
import { AcmeRows } from './acme-rows.ts';
import { certificateFile } from './engine/acme/files.ts';
import { Engine } from './engine/engine.ts';
import { logAcceptErrors } from './engine/limits/accept-errors.ts';
import { LocalFace } from './engine/local-face.ts';
import { NodesFace } from './engine/nodes/nodes-face.ts';
import { engineSettings } from './engine-settings.ts';
import { CertificateFiles } from './http/certificate-files.ts';
import { addressOf, close, drain, listen } from './http/listening.ts';
import { InstallationKeys } from './installation-keys.ts';
import { createLogs } from './log.ts';
import { openProcessApi } from './open-process-api.ts';
import { openPorts } from './open-ports.ts';
import { openRedirect } from './open-redirect.ts';
import { commonClock, joinServers, LOOPBACK, otherServers } from './other-servers.ts';
import { GENERATE_CERTIFICATE, ownCommand, SELF_TEST } from './own-program.ts';
import { processLine, readyMessage } from './ready-message.ts';
import { regularly } from './regularly.ts';
import { reloadOnHangup } from './reload.ts';
import { retentionOf } from './retention.ts';
import { Attempts } from './rules/attempts.ts';
import { AgentDeclarations } from './schema/writes/agent-records.ts';
import { wantedState } from './schema/writes/engine-changes.ts';
import { sweepExpiries } from './schema/writes/expiry-sweep.ts';
import type { HostPorts } from './rules/public-address.ts';
import { createServices } from './schema/services.ts';
import { notifyServiceManager } from './service-manager.ts';
import { nameFormerTokens } from './schema/access/tokens.ts';
import { acmeOptions } from './settings/acme.ts';
import { ticketSecret, TICKETS_FILE } from './settings/ticket-secret.ts';
import { commonSettings } from './settings/common-settings.ts';
import { ownNodeName, processName } from './settings/node-name.ts';
import { bridgeIdentity } from './settings/bridge-identity.ts';
import { versionKeyOf } from './settings/tls-identity.ts';
import { httpTls } from './settings/http-tls.ts';
import type { LoadedSettings } from './settings/load.ts';
import type { Settings } from './settings/settings.ts';
import { failureNote } from './store/database-failure.ts';
import { lockDataDir } from './store/data-lock.ts';
import { RefusalSaver } from './store/refusal-saver.ts';
import { StateSaver } from './store/state-saver.ts';
import { firstStartFiles, SharedFiles } from './shared-files.ts';
import { openStore } from './store/store.ts';
import { startError } from './start-error.ts';
import { stopSignal } from './stop-signal.ts';
import { version } from './version.ts';
import { chooseSockets } from './wire/choose-sockets.ts';
import { SelfTests } from './wire/self-tests.ts';
import { holdYoungGeneration, releaseYoungGeneration, whileYoungGenerationGrows } from './young-generation.ts';

/** Interval for deleting old history, in ms. */
const PRUNE_MS = 3_600_000;
/** Interval for checking whether the secret of session tickets must be replaced, in ms. */
const TICKETS_MS = 600_000;
/** Interval for checking whether the certificate of the API was replaced, in ms. */
const CERTIFICATE_MS = 5000;
/** Interval for publishing expiries that have passed, in ms (contract D13). */
const SWEEP_MS = 60_000;

/**
 * Runs the server: starts settings, store, engine, schema and HTTP in this order, then prints the ready message on stdout. SIGHUP reloads
 * certificates. SIGTERM or SIGINT drains the server, and a second signal stops it immediately. Resolves when the server is drained.
 * @param read the settings without secrets that are not generated yet @param load completes them, and generates those secrets
 * @param own this process among several on this machine; undefined = it is the only one
 * @throws the error that prevents the start, such as a port in use; all ports are closed then
 */
export async function runServer(read: Settings, load: () => LoadedSettings, own?: OwnProcess): Promise<void> {
  const logs = createLogs(read);
  const log = logs('server');
  const opened: Array<() => Promise<unknown>> = [];
  try {
    const { dataDir, databaseUrl } = read;
    // On PostgreSQL, the secrets may be in the database.
    const alone = databaseUrl === '' ? load() : undefined;
    if (alone) opened.push(lockDataDir(dataDir));
    // Child processes do this while the store is opened.
    const choosing = chooseSockets(read.sockets, new SelfTests(ownCommand(SELF_TEST)), (problem) => log.warn(problem));
    const ownIdentity = alone && bridgeIdentity(alone.settings, ownCommand(GENERATE_CERTIFICATE));
    Promise.all([choosing, ownIdentity]).catch(() => {}); // awaited below, unless the store can't be opened either
    const store = await openStore({ url: databaseUrl, dataDir, log: logs('store'), onLost: endAtOnce });
    opened.push(() => store.close());
    const keys = alone ? undefined : await InstallationKeys.open({ store, dataDir, invitation: read.invitation, log });
    const shared = keys && await SharedFiles.open({ store, dataDir, keys, log });
    await shared?.synchronize(firstStartFiles);
    const { settings, generated, notices } = alone ?? load();
    for (const notice of notices) log.warn(notice);
    const sockets = await choosing;
    const identity = await (ownIdentity ?? bridgeIdentity(settings, ownCommand(GENERATE_CERTIFICATE)));
    await shared?.synchronize(firstStartFiles);
    holdYoungGeneration(); // the database's thread has undone it
    log.info({ sockets: sockets.name }, 'socket backend');
    const { name, siblings, linkHost } = ownPlace(await ownNodeName(settings), own, settings);
    const others = await otherServers(store, name, siblings, settings);
    const clock = await commonClock(store, log);
    const attempts = new Attempts();
    const acme = acmeOptions(settings);
    const engine = new Engine({
      ...engineSettings(settings),
      bridgeTls: { port: settings.bridgeTlsPort, identity },
      acme: acme && { ...acme, ...keys && { shared: { texts: (directory) => new AcmeRows({ store, keys, log }, directory), leads: () => store.leads() } } },
      sockets,
      shared: own?.ports,
      link: { host: linkHost, port: own && settings.linkPort !== 0 ? settings.linkPort + own.number - 1 : 0 },
      attempts,
      ...keys && {
        node: {
          name,
          siblings,
          version,
          key: keys.links.current,
          links: settings.nodeLinks,
          settings: commonSettings(settings),
          amongOthers: others.length > 0,
          clock,
          onCommitted: () => store.follower.lookSoon(),
          storedTotals: (clientId) => store.storedTotals(clientId),
        },
      },
      log: logs('engine'),
      bridgeLog: logs('bridge'),
      visitorLog: logs('visitors'),
    });
    opened.push(() => engine.close());
    const departure = new Departure(engine, log);
    const tickets = regularly(
      TICKETS_MS,
      async () => {
        await shared?.synchronize([TICKETS_FILE]);
        const secret = await ticketSecret(dataDir, Date.now());
        await shared?.synchronize([TICKETS_FILE]);
        engine.sealTickets(secret);
      },
      log,
      'the secret of TLS session tickets could not be kept; tried again in ten minutes',
    );
    opened.push(() => tickets.stop());
    await store.forgetRunningState(others.map((other) => other.name));
    await nameFormerTokens(store, log);
    if (others.length === 0) await store.forgetDeclared();
    const state = wantedState(await store.loadEngineState());
    await engine.load({ ...state, clients: whileYoungGenerationGrows(state.clients) });
    const face = engine.nodes ? new NodesFace(engine, engine.nodes) : new LocalFace(engine);
    const saver = new StateSaver(face, store, logs('store'));
    saver.start();
    opened.push(() => saver.stop());
    const refusals = new RefusalSaver(face, store, logs('store'));
    refusals.start();
    opened.push(() => refusals.stop());
    /** Work that only one server on the database does. */
    const once = (work: () => Promise<void>) => async () => {
      if (store.leads()) await work();
    };
    const pruning = regularly(PRUNE_MS, once(() => store.prune(retentionOf(settings))), log, 'old history could not be deleted; tried again in an hour');
    opened.push(() => pruning.stop());
    let bridge: BridgeAddress | undefined;
    let hosts: HostPorts = { httpPort: 0, httpsPort: 0 };
    const tls = await httpTls(settings, ownCommand(GENERATE_CERTIFICATE), (name) => acme && certificateFile(acme, acme.directory, name));
    const services = createServices({
      store,
      engine: face,
      attempts,
      log: logs('schema'),
      now: Date.now,
      freshState: () => saver.fresh(),
      settings: {
        version,
        get bridge() {
          return listening(bridge);
        },
        get hostPorts() {
          return hosts;
        },
        allowLocalProxy: settings.allowLocalProxy,
        acmeDirectory: acme?.directory ?? '',
        startedAt: Date.now(),
        allowPorts: settings.allowPorts,
        adminUsername: settings.adminUsername,
        retention: settings,
        publicUrl: settings.publicUrl,
        versionKey: versionKeyOf(identity),
        api: {
          publicUrl: settings.publicUrl,
          basePath: settings.basePath,
          get ownTls() {
            return tls && { port: addressOf(created).port, pin: tls.pin };
          },
        },
      },
    });
    services.changes.subscribe((change) => {
      if ('reset' in change && change.reset !== undefined) saver.trafficReset(change.resource, change.id);
    });
    store.follower.onOwnCommit = () => engine.nodes?.committed();
    store.follower.start(services.catchUp);
    opened.push(() => store.follower.stop());
    const declarations = new AgentDeclarations(services);
    engine.keepDeclared(declarations);
    opened.push(() => declarations.stop());
    const sweep = regularly(SWEEP_MS, once(() => sweepExpiries(services)), log, 'expiries could not be published; tried again in a minute');
    opened.push(() => sweep.stop());
    const created = createApi(settings, services, face, logs, departure, name, tls);
    const certificate = tls?.files && created instanceof https.Server ? new CertificateFiles(tls.files, created, log) : undefined;
    const renewing = certificate && regularly(CERTIFICATE_MS, () => certificate.look(), log, 'the certificate of the API could not be checked');
    opened.push(async () => renewing?.stop());
    // The bridge opens last, when everything it needs is ready, and the event loop is free for many reconnecting agents.
    bridge = await openPorts(settings, { host: 'bridgeHost', ports: ['bridgePort', 'bridgeTlsPort', 'linkPort'] }, () => engine.listen());
    const stopReloading = reloadOnHangup({
      engine,
      certificate,
      settings,
      log,
      onBridge: (renewed) => {
        bridge = renewed;
      },
    });
    opened.push(async () => stopReloading());
    opened.push(await joinServers({ services, engine, keys, name, siblings, bridge, settings, departure, log, onEnd: endAtOnce }));
    hosts = await openPorts(
      settings,
      { host: 'vhostHost', ports: ['vhostHttpPort', 'vhostHttpsPort'] },
      () => engine.listenHosts({ host: settings.vhostHost, httpPort: settings.vhostHttpPort, httpsPort: settings.vhostHttpsPort }),
    );
    await openPorts(
      settings,
      { host: 'httpHost', ports: ['httpPort'] },
      () => listen(created, { host: settings.httpHost, port: settings.httpPort, share: own?.ports.of('api') }, logAcceptErrors(log, settings.httpPort)),
    );
    opened.push(() => close(created));
    const single = own && await openProcessApi(settings, own.number, created, log);
    if (single) opened.push(async () => void single.close());
    const redirect = await openRedirect(settings, API_SHARES, created, log, own?.ports);
    if (redirect) opened.push(() => close(redirect));
    const stop = own ? own.stopping : stopSignal(log);
    releaseYoungGeneration();
    const text = readyMessage({ settings, generated, bridge: listening(bridge), hosts, http: addressOf(created), tls });
    if (own) own.ready(text, processLine(name, own.number, settings.processes, bridge.linkPort));
    else process.stdout.write(text);

    const notifyStopping = notifyServiceManager(process.env, log);
    await stop;
    notifyStopping();
    await departure.stop(settings.leaveSeconds * 1000);
    const ms = settings.drainSeconds * 1000;
    log.info(`stopping: open connections have ${settings.drainSeconds} s to end`);
    const [cut] = await Promise.all([engine.drain(ms), drain(created, ms)]);
    log.info({ cut }, 'stopped');
  } catch (error) {
    throw startError(error, read.databaseUrl);
  } finally {
    // The first error says why the server ends. The others must not keep the rest, such as the last save of counters, from being done.
    for (const undo of opened.toReversed()) await undo().catch((error: unknown) => log.error(failureNote(error), 'a part of the server could not be stopped'));
  }
}

/** Ends the process, since its memory may differ from the stored state. Only a restart, which reads the stored state, can recover. */
function endAtOnce(error: Error): never {
  process.stderr.write(`adit: ${error.message}; this server ends\n`);
  process.exit(1);
}

/** Who this process is among the nodes, and where they reach it. @param name the server's, for all its processes */
function ownPlace(name: string, own: OwnProcess | undefined, { processes, nodeAddress, bridgeHost }: Settings) {
  if (!own) return { name, siblings: new Set<string>(), linkHost: '' };
  const names = Array.from({ length: processes }, (_, index) => processName(name, index + 1));
  const ownName = processName(name, own.number);
  // If only the other processes have to reach it, nobody else can.
  return { name: ownName, siblings: new Set(names.filter((each) => each !== ownName)), linkHost: nodeAddress === '' ? LOOPBACK : bridgeHost };
}

/** The bridge's address; it is set before anything uses it. */
function listening(bridge: BridgeAddress | undefined): BridgeAddress {
  if (!bridge) throw new Error('the bridge does not listen yet');
  return bridge;
}
