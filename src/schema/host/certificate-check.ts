import {
  belongTogether,
  CertificateFault,
  certificateFacts,
  type CertificateFacts,
  coversHost,
  daysLeft,
  EXPIRING_DAYS,
  keyFault,
} from '../../rules/certificate.ts';
import { hostPattern } from '../../rules/host-name.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { readPem } from '../platform-domain/certificate-rules.ts';
import { enumOf } from '../values/enum.ts';
import { Problems } from '../values/problems.ts';
import { pemOrPath } from './input.ts';

/** What can be wrong with a certificate and a key. */
type CertificateProblem =
  | 'certificateUnreadable'
  | 'certificateInvalid'
  | 'keyUnreadable'
  | 'keyMissing'
  | 'keyRefused'
  | 'keyMismatch'
  | 'expired'
  | 'notYetValid'
  | 'notCovered'
  | 'expiring';

/** The result of a check. */
interface CertificateCheck {
  readonly problems: readonly CertificateProblem[];
  /** undefined = it can't be read */
  readonly facts: CertificateFacts | undefined;
  /** ms since the epoch */
  readonly now: number;
}

const CertificateProblemType = enumOf<CertificateProblem>('CertificateProblem', 'What can be wrong with a certificate and its key.', {
  certificateUnreadable: 'The file of the certificate cannot be loaded.',
  certificateInvalid: 'The certificate is not PEM text of a certificate, or it has more than 1,000 names or 32 KB.',
  keyUnreadable: 'The file of the private key cannot be loaded.',
  keyMissing: 'There is no private key.',
  keyRefused: 'The type or size of the key is not supported: use RSA with at most 4096 bits, P-256, P-384, P-521 or Ed25519.',
  keyMismatch: 'The private key does not belong to the certificate, is encrypted, or is of a type that is not supported.',
  expired: 'The certificate has expired.',
  notYetValid: 'The certificate is not valid yet.',
  notCovered: 'The certificate does not cover `host`.',
  expiring: 'The certificate expires in less than 15 days. It can be used.',
});

const CertificateCheckType = builder.objectRef<CertificateCheck>('CertificateCheck').implement({
  description: 'What a certificate and a key are, before they are stored. Contains nothing of the key.',
  fields: (t) => ({
    usable: t.boolean({
      description: 'Whether visitors get it if it is stored: there is no problem, or it only expires soon.',
      resolve: ({ problems }) => problems.every((problem) => problem === 'expiring'),
    }),
    problems: t.field({
      type: [CertificateProblemType],
      extensions: { items: 5 },
      description: 'Everything that is wrong.',
      resolve: ({ problems }) => [...problems],
    }),
    names: t.stringList({
      description: 'The names and addresses that it covers, at most 100. Empty if it cannot be read.',
      resolve: ({ facts }) => [...facts?.description.names ?? []],
    }),
    issuer: t.string({
      nullable: true,
      description: 'The issuer; null = it cannot be read.',
      resolve: ({ facts }) => facts?.description.issuer ?? null,
    }),
    validFrom: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it becomes valid; null = it cannot be read.',
      resolve: ({ facts }) => facts?.validFrom ?? null,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null = it cannot be read.',
      resolve: ({ facts }) => facts?.validTo ?? null,
    }),
    daysRemaining: t.int({
      nullable: true,
      description: 'Full days until it expires; null = it cannot be read.',
      resolve: ({ facts, now }) => facts ? daysLeft(facts.validTo, now) : null,
    }),
    fingerprint: t.string({
      nullable: true,
      description: 'The SHA-256 fingerprint, as 64 hex digits; null = it cannot be read.',
      resolve: ({ facts }) => facts?.description.fingerprint ?? null,
    }),
  }),
});

builder.queryField('checkCertificate', (t) =>
  t.field({
    type: CertificateCheckType,
    authScopes: { clientLogin: true },
    description: 'Checks a certificate and its key without storing them: send it before you create or change a host.',
    args: {
      certificate: t.arg.string({
        required: true,
        description: 'The certificate as PEM text or, for administrators, the path of a file on the server.',
      }),
      privateKey: t.arg.string({ description: 'The private key, in the same form; null = none.' }),
      host: t.arg.string({ description: 'The name, address or wildcard that the certificate has to cover; null = any.' }),
    },
    resolve: (_root, { certificate, privateKey, host }, context) => checkCertificate(context, certificate, privateKey ?? '', host ?? ''),
  }));

async function checkCertificate(context: Context, certificate: string, privateKey: string, host: string): Promise<CertificateCheck> {
  const input = new Problems('');
  const given = input.columns({
    certificate: () => pemOrPath(context, 'certificate', certificate),
    privateKey: () => pemOrPath(context, 'privateKey', privateKey),
    host: () => nameOf(host),
  });
  input.end();
  const now = context.now();
  const [certificateText, keyText] = await Promise.all([loaded(given.certificate ?? ''), loaded(given.privateKey ?? '')]);
  if (certificateText === undefined) return { problems: ['certificateUnreadable'], facts: undefined, now };
  let facts: CertificateFacts;
  try {
    facts = certificateFacts(certificateText);
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    return { problems: ['certificateInvalid'], facts: undefined, now };
  }
  return { problems: [...pairProblems(facts, keyText), ...dateProblems(facts, now), ...nameProblems(facts, given.host ?? '')], facts, now };
}

/** undefined = it can't be loaded */
async function loaded(pemOrPath: string): Promise<string | undefined> {
  if (pemOrPath === '') return '';
  try {
    return await readPem(pemOrPath);
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    return undefined;
  }
}

function pairProblems({ x509 }: CertificateFacts, key: string | undefined): CertificateProblem[] {
  if (keyFault(x509.publicKey) !== '') return ['keyRefused'];
  if (key === undefined) return ['keyUnreadable'];
  if (key === '') return ['keyMissing'];
  return belongTogether(x509, key) ? [] : ['keyMismatch'];
}

function dateProblems({ validFrom, validTo }: CertificateFacts, now: number): CertificateProblem[] {
  if (validTo.getTime() <= now) return ['expired'];
  if (validFrom.getTime() > now) return ['notYetValid'];
  return daysLeft(validTo, now) < EXPIRING_DAYS ? ['expiring'] : [];
}

function nameProblems({ x509 }: CertificateFacts, host: string): CertificateProblem[] {
  return host === '' || coversHost(x509, host) ? [] : ['notCovered'];
}

/** @throws {AditError} HOST_INVALID */
function nameOf(host: string): string {
  const name = host.trim() === '' ? '' : hostPattern(host);
  if (name === undefined) throw new AditError('HOST_INVALID', { field: 'host' });
  return name;
}
