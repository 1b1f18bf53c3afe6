import { expect, test } from '@jest/globals';
import { reportText, withNpsNames } from '../../src/migration/nps/report-text.ts';
import type { ImportReport } from '../../src/schema/import/report.ts';

const nothing = { added: 0, changed: 0, unchanged: 0 };
const report: ImportReport = {
  counts: { user: nothing, client: nothing, tunnel: nothing, host: nothing, platformDomain: nothing, globalSettings: nothing },
  counted: 0,
  problems: [],
  leftOut: [],
  notes: [],
  refusal: '',
  outcome: 'nothing',
};

test('a report has a table of all resources, then what is not imported, what changes, and the problems', () => {
  const of = (n: number) => ({ added: n, changed: n + 100, unchanged: n + 200 });
  const whole: ImportReport = {
    ...report,
    counts: { globalSettings: of(6), platformDomain: of(5), host: of(4), tunnel: of(3), client: of(2), user: of(1) },
    counted: 77,
    problems: [{ source: 'a', field: 'targets.0', text: 'one' }, { source: 'b', field: '', text: 'two' }],
    leftOut: [{ source: 'c', text: 'three\u001b[2J' }],
    notes: [{ source: 'd', text: 'four' }],
    outcome: 'done',
  };
  expect(reportText(withNpsNames(whole), ['a remark', 'another'])).toBe(`\
                          new    changed  unchanged
users                       1        101        201
clients                     2        102        202
tunnels                     3        103        203
hosts                       4        104        204
platform domains            5        105        205
global settings             6        106        206

a remark
another

Counters of 77 records have changed.

Not imported (1):
  c: three?[2J

Changes (1):
  d: four

Problems (2):
  a: Target.TargetStr: one
  b: two

Imported, without the records of the problems above (2).
`);
});

test.each<readonly [Partial<ImportReport>, string]>([
  [{ outcome: 'done' }, 'Imported.'],
  [{ outcome: 'planned' }, 'Nothing was written (--dry-run).'],
  [{ outcome: 'nothing' }, 'Nothing to do: everything was imported before, and nothing has changed since.'],
  [{ outcome: 'refused', refusal: 'the reason' }, 'Nothing was imported: the reason.'],
  [{ outcome: 'refused' }, 'Nothing was imported: correct the problems above (0), or use --skip-broken to leave those records out.'],
])('after the table, a report without anything else only has the last line: %j', (parts, line) => {
  expect(reportText({ ...report, ...parts }, []).split('\n').slice(7)).toEqual(['', line, '']);
});

test('a problem names the key of NPS that a field is from', () => {
  const keys = {
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
    'Flow.InletFlow': 'Flow.InletFlow',
    ['x'.repeat(201)]: 'x'.repeat(200),
  };
  const problems = Object.keys(keys).map((field) => ({ source: 's', field, text: 't' }));
  expect(withNpsNames({ ...report, problems }).problems).toEqual(Object.values(keys).map((field) => ({ source: 's', field, text: 't' })));
});
