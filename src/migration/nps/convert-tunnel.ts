import type { Imported } from '../../schema/import/records.ts';
import { tunnelModes } from '../../rules/tunnel-mode.ts';
import { bytesOf, hasAccounts, leavesOut, noteHealth, targetsOf } from './convert.ts';
import { unescaped } from './escaped-text.ts';
import type { RecordFindings } from './findings.ts';
import type { NpsTunnel } from './records.ts';

/** The modes that use their targets. */
const dialing: ReadonlySet<string> = new Set(['tcp', 'udp', 'secret', 'p2p']);
const proxies: ReadonlySet<string> = new Set(['httpProxy', 'socks5']);

/** A record of tasks.json; undefined = it is left out, or has a problem. */
export function convertTunnel(tunnel: NpsTunnel, findings: RecordFindings): Imported<'tunnel'> | undefined {
  const mode = modeOf(tunnel, findings);
  if (mode === undefined) return undefined;
  const target = tunnel.Target ?? (tunnel.TargetAddr === '' ? undefined : { TargetStr: tunnel.TargetAddr, LocalProxy: false, ProxyProtocol: 0 });
  if (leavesOut({ ...tunnel, Target: target }, findings, mode === 'tcp' || mode === 'udp' || mode === 'secret')) return undefined;
  if ((mode === 'secret' || mode === 'p2p') && tunnel.Password === '') {
    findings.leaveOut(`is a ${mode} tunnel without a password, which no visitor can use: create it again with a password`);
    return undefined;
  }
  if (tunnel.Id <= 0) findings.problem('Id', 'must be at least 1');
  noteHealth(tunnel, findings);
  const accounts = tunnel.MultiAccount.AccountMap.map(([user, password]) => ({ user, password }));
  const isProxy = proxies.has(mode);
  const guarded = isProxy ? hasAccounts({ UserAuth: tunnel.UserAuth, MultiAccount: { AccountMap: [] } }) : hasAccounts(tunnel);
  if (guarded) findings.note('imported as stopped: it asks visitors for accounts (UserAuth, MultiAccount) in a way that has no equivalent');
  const unlisted = tunnel.WhitelistPass !== '';
  if (unlisted) findings.note('imported as stopped: its own whitelist has no equivalent; use the allowlist of the client, then start it');
  if (mode === 'file') findings.note('the agent serves its files only if you start it with --allow-files DIR (docs/agent.md): npc has no such flag');
  const targets = targetsOf(target?.TargetStr ?? '');
  if (targets.length > 0 && !dialing.has(mode)) findings.note(`its target is not carried over: a ${mode} tunnel uses none`);
  return {
    kind: 'tunnel',
    source: findings.source,
    id: tunnel.Id,
    clientId: tunnel.Client.Id,
    mode,
    remark: unescaped(tunnel.Remark),
    // NPS stores a number for tunnels without a port, too.
    port: mode === 'secret' || mode === 'p2p' ? 0 : tunnel.Port,
    serverIp: tunnel.ServerIp,
    targets: dialing.has(mode) ? targets : [],
    localProxy: target?.LocalProxy ?? false,
    password: tunnel.Password,
    localPath: unescaped(tunnel.LocalPath),
    stripPrefix: unescaped(tunnel.StripPre),
    proxyProtocol: proxyProtocolOf(tunnel.ProtoVersion, target?.ProxyProtocol ?? 0, findings),
    accounts: isProxy ? accounts : [],
    enabled: tunnel.Status && !guarded && !unlisted,
    inletBytes: bytesOf(findings, 'Flow.InletFlow', tunnel.Flow.InletFlow),
    exportBytes: bytesOf(findings, 'Flow.ExportFlow', tunnel.Flow.ExportFlow),
  };
}

function modeOf({ Mode, HttpProxy, Socks5Proxy }: NpsTunnel, findings: RecordFindings): Imported<'tunnel'>['mode'] | undefined {
  if (Mode === 'mixProxy' && HttpProxy !== Socks5Proxy) return HttpProxy ? 'httpProxy' : 'socks5';
  if (Mode === 'mixProxy') {
    findings.leaveOut('is an HTTP and a SOCKS5 proxy on one port: create an httpProxy and a socks5 tunnel on two ports instead');
    return undefined;
  }
  const mode = tunnelModes.find((known) => known === Mode);
  if (mode === undefined) findings.problem('Mode', `${JSON.stringify(Mode.slice(0, 40))} is none of ${tunnelModes.join(', ')}, mixProxy`);
  return mode;
}

function proxyProtocolOf(version: string, number: number, findings: RecordFindings): '' | 'V1' | 'V2' {
  const wanted = version.trim().toUpperCase() || (number === 1 ? 'V1' : number === 2 ? 'V2' : '');
  if (wanted === '' || wanted === 'V1' || wanted === 'V2') return wanted;
  findings.note(`ProtoVersion ${JSON.stringify(version.slice(0, 20))} means nothing, and is not carried over`);
  return '';
}
