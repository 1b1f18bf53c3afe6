import { enumOf } from '../values/enum.ts';

/** The protocol a host is for. */
export const HostScheme = enumOf('HostScheme', 'The schemes that a host serves.', {
  all: 'HTTP and HTTPS.',
  http: 'HTTP only.',
  https: 'HTTPS only.',
});

/** The source of a host's name. */
export const HostMode = enumOf('HostMode', 'How the name of a host is formed.', {
  custom: 'The host has its own domain or wildcard, and its own certificate.',
  platform: 'The host has a prefix below a platform domain, and uses the certificate of that domain.',
});
