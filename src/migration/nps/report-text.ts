import { type ImportReport, importResources, type ImportResource } from '../../schema/import/report.ts';

/** The fields of an import, as NPS names them. */
const npsNames: ReadonlyMap<string, string> = new Map(Object.entries({
  id: 'Id',
  username: 'UserName',
  tokenHash: 'ApiTokenHash',
  ownerId: 'UserId',
  verifyKey: 'VerifyKey',
  remark: 'Remark',
  basicUser: 'Cnf.U',
  basicPassword: 'Cnf.P',
  webUsername: 'WebUserName',
  blocklist: 'BlackIpList',
  allowlist: 'IpWhiteList',
  allowlistPassword: 'IpWhitePass',
  lastAddress: 'Addr',
  localAddress: 'LocalAddr',
  agentVersion: 'Version',
  clientId: 'Client.Id',
  port: 'Port',
  serverIp: 'ServerIp',
  targets: 'Target.TargetStr',
  password: 'Password',
  localPath: 'LocalPath',
  stripPrefix: 'StripPre',
  accounts: 'MultiAccount.AccountMap',
  host: 'Host',
  location: 'Location',
  scheme: 'Scheme',
  headers: 'HeaderChange',
  hostChange: 'HostChange',
  certificate: 'CertFilePath',
  privateKey: 'KeyFilePath',
  platformDomainId: 'PlatformDomainID',
  wildcard: 'Wildcard',
  certificatePath: 'CertFilePath',
  privateKeyPath: 'KeyFilePath',
  serverUrl: 'ServerUrl',
}));

const titles: Readonly<Record<ImportResource, string>> = {
  user: 'users',
  client: 'clients',
  tunnel: 'tunnels',
  host: 'hosts',
  platformDomain: 'platform domains',
  globalSettings: 'global settings',
};

/** A report with the field names of NPS. */
export function withNpsNames(report: ImportReport): ImportReport {
  return {
    ...report,
    problems: report.problems.map(({ field, ...problem }) => ({ ...problem, field: npsNames.get(field.split('.')[0] ?? '') ?? field.slice(0, 200) })),
  };
}

/** A report as a table with lists, for people. @param remarks on the folder as a whole */
export function reportText(report: ImportReport, remarks: readonly string[]): string {
  const rows = importResources.map((resource) => {
    const { added, changed, unchanged } = report.counts[resource];
    return [titles[resource], String(added), String(changed), String(unchanged)];
  });
  const table = [['', 'new', 'changed', 'unchanged'], ...rows].map(([name = '', ...numbers]) =>
    name.padEnd(18) + numbers.map((number) => number.padStart(11)).join('')
  ).map((line) => `${line.trimEnd()}\n`).join('');
  return [
    table,
    remarks.length === 0 ? '' : `\n${remarks.map((remark) => `${remark}\n`).join('')}`,
    report.counted === 0 ? '' : `\nCounters of ${report.counted} records have changed.\n`,
    list('Not imported', report.leftOut.map(({ source, text }) => `${source}: ${text}`)),
    list('Changes', report.notes.map(({ source, text }) => `${source}: ${text}`)),
    list('Problems', report.problems.map(({ source, field, text }) => `${source}: ${field === '' ? '' : `${field}: `}${text}`)),
    `\n${outcomeText(report)}\n`,
  ].join('');
}

function list(title: string, lines: readonly string[]): string {
  // A text from a file may contain terminal control characters.
  return lines.length === 0 ? '' : `\n${title} (${lines.length}):\n${lines.map((line) => `  ${line.replace(/\p{Cc}/gu, '?')}\n`).join('')}`;
}

function outcomeText({ outcome, refusal, problems }: ImportReport): string {
  switch (outcome) {
    case 'done':
      return problems.length > 0 ? `Imported, without the records of the problems above (${problems.length}).` : 'Imported.';
    case 'planned':
      return 'Nothing was written (--dry-run).';
    case 'nothing':
      return 'Nothing to do: everything was imported before, and nothing has changed since.';
    case 'refused':
      return refusal === ''
        ? `Nothing was imported: correct the problems above (${problems.length}), or use --skip-broken to leave those records out.`
        : `Nothing was imported: ${refusal}.`;
  }
}
