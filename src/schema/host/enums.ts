import { builder } from '../builder.ts';

/** The protocol a host is for. */
export const HostScheme = builder.enumType('HostScheme', {
  description: 'The protocol a host is for.',
  values: {
    ALL: { value: 'all', description: 'HTTP and HTTPS.' },
    HTTP: { value: 'http', description: 'HTTP only.' },
    HTTPS: { value: 'https', description: 'HTTPS only.' },
  } as const,
});

/** Where the name of a host comes from. */
export const HostMode = builder.enumType('HostMode', {
  description: 'Where the name of a host comes from.',
  values: {
    CUSTOM: { value: 'custom', description: 'A domain of its own, or a wildcard, with a certificate of its own.' },
    PLATFORM: { value: 'platform', description: 'A prefix below a platform domain, with the certificate of that domain.' },
  } as const,
});

/** What hosts can be sorted by. */
export const HostOrder = builder.enumType('HostOrder', {
  description: 'What hosts can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    CLIENT_ID: { description: "The client's id." },
    REMARK: { description: 'The note.' },
    VERIFY_KEY: { description: "The client's verification key." },
    HOST: { description: 'The domain.' },
    SCHEME: { description: 'The protocol.' },
    TARGET: { description: 'The targets.' },
    LOCATION: { description: 'The beginning of the URL paths.' },
    STOPPED: { description: 'Started ones first.' },
    CONNECTED: { description: "Those without the client's agent first." },
  },
});
