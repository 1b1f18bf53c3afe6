import type { CreateHostInput, HostFieldsFragment, HostScheme, UpdateHostInput } from '../../generated/graphql.ts';
import { checked, isChecked, linesOf, textOrNull } from '../../parts/form-values.ts';

/** The values of a host's form. */
export type HostValues = ReturnType<typeof valuesOf>;

/** The values of a host. @param clientId of a new host */
export function valuesOf(host: HostFieldsFragment | undefined, clientId: string) {
  return {
    clientId: host?.client.id ?? clientId,
    mode: host?.mode ?? 'CUSTOM',
    scheme: host?.scheme ?? 'ALL',
    remark: host?.remark ?? '',
    host: host?.host ?? '',
    platformDomainId: host?.platformDomainId ?? '',
    platformPrefix: host?.platformPrefix ?? '',
    location: host?.location === '/' ? '' : host?.location ?? '',
    targets: host?.targets.join('\n') ?? '',
    localProxy: checked(host?.localProxy ?? false),
    headers: host?.headers?.join('\n') ?? '',
    hostChange: host?.hostChange ?? '',
    certificate: host?.certificatePath ?? '',
    privateKey: host?.privateKeyPath ?? '',
    autoHttps: checked(host?.autoHttps ?? false),
    acme: checked(host?.acme ?? false),
    removeCertificate: '',
  };
}

/** The input for a host: the certificate is only sent if it was entered or is removed; headers that may not be seen are left out. */
export function inputOf(
  values: Readonly<Record<keyof HostValues, string>>,
  host: HostFieldsFragment | undefined,
): UpdateHostInput & Omit<CreateHostInput, 'clientId'> {
  const isPlatform = values.mode === 'PLATFORM';
  const before = valuesOf(host, '');
  const hasNewCertificate = values.certificate !== before.certificate || values.privateKey !== before.privateKey;
  const headersAreHidden = host !== undefined && host.headers === null;
  return {
    mode: isPlatform ? 'PLATFORM' : 'CUSTOM',
    scheme: schemeOf(values.scheme),
    remark: textOrNull(values.remark),
    ...(isPlatform ? { platformDomainId: textOrNull(values.platformDomainId), platformPrefix: values.platformPrefix } : { host: values.host.trim() }),
    location: textOrNull(values.location),
    targets: linesOf(values.targets),
    localProxy: isChecked(values.localProxy),
    ...((!headersAreHidden || values.headers !== '') && { headers: linesOf(values.headers) }),
    hostChange: textOrNull(values.hostChange),
    autoHttps: isChecked(values.autoHttps),
    ...(!isPlatform && {
      acme: isChecked(values.acme),
      ...(isChecked(values.removeCertificate)
        ? { certificate: null, privateKey: null }
        : hasNewCertificate && { certificate: textOrNull(values.certificate), privateKey: textOrNull(values.privateKey) }),
    }),
  };
}

function schemeOf(text: string): HostScheme {
  return text === 'HTTP' || text === 'HTTPS' ? text : 'ALL';
}
