import { enumOf } from '../values/enum.ts';

/** The protocol a host is for. */
export const HostScheme = enumOf('HostScheme', 'The protocol a host is for.', {
  all: 'HTTP and HTTPS.',
  http: 'HTTP only.',
  https: 'HTTPS only.',
});

/** Where the name of a host comes from. */
export const HostMode = enumOf('HostMode', 'Where the name of a host comes from.', {
  custom: 'A domain of its own, or a wildcard, with a certificate of its own.',
  platform: 'A prefix below a platform domain, with the certificate of that domain.',
});
