import type { DiagnoseHostQuery } from '../generated/graphql.ts';
import type { Shaped } from '../shapes.ts';

/** Builds a diagnosis record (contract 4.8); without a match it has no rule. */
export function diagnosisRecord({ diagnoseHost: { host, path, scheme, matched, reason, target, rule } }: DiagnoseHostQuery): Shaped<'Diagnosis'>['data'] {
  return {
    host,
    path,
    scheme: scheme.toLowerCase(),
    matched,
    reason: reason ?? '',
    ...(rule && {
      rule: {
        id: Number(rule.id),
        host: rule.host,
        location: rule.location,
        scheme: rule.scheme.toLowerCase(),
        remark: rule.remark,
        client: rule.client.remark === '' ? `client ${rule.client.id}` : `client ${rule.client.id} · ${rule.client.remark}`,
        clientId: Number(rule.client.id),
        clientRemark: rule.client.remark,
        target: target ?? '',
        platformManaged: rule.mode === 'PLATFORM',
      },
    }),
  };
}
