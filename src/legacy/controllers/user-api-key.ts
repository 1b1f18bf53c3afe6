import { ApiKeyStatusDocument, RegenerateApiKeyDocument, RevokeApiKeyDocument } from '../generated/graphql.ts';
import { reference } from '../parameters.ts';
import { timeText } from '../records/client.ts';
import { shaped, write, type Route } from '../route.ts';

/** Users omit the id, or name themselves; an administrator who omits it means the administrators' key. */
const parameters = { id: reference('user') };

/** The endpoints for the single API key that a user has in the legacy API (contract 2.7). */
export const tokenRoutes: readonly Route[] = [
  write({
    path: '/user/regenerateapikey',
    answer: 'ApiKey',
    summary: 'Creates an API key, sent as `Authorization: Bearer KEY`, and revokes the previous one. The key is returned only once.',
    parameters,
    operation: RegenerateApiKeyDocument,
    variables: ({ id: userId }) => ({ userId }),
    success: 'regenerate success',
    extra: ({ regenerateLegacyApiToken }) => ({ api_token: regenerateLegacyApiToken.token }),
  }),
  write({
    path: '/user/revokeapikey',
    summary: 'Revokes the API key at once.',
    parameters,
    operation: RevokeApiKeyDocument,
    variables: ({ id: userId }) => ({ userId }),
    success: 'revoke success',
    texts: { NOT_FOUND: (message) => message === 'token ID not found' ? 'no API key' : message },
  }),
  shaped({
    path: '/user/apikeystatus',
    answer: 'ApiKeyStatus',
    summary: 'Whether there is an API key, when it was created, and when it was last used.',
    parameters,
    operation: ApiKeyStatusDocument,
    variables: ({ id: userId }) => ({ userId }),
    shape: ({ legacyApiToken: key }) => ({
      status: 1,
      msg: 'success',
      exists: key !== null,
      CreateTime: timeText(key?.createdAt ?? null),
      LastUsedTime: timeText(key?.lastUsedAt ?? null),
    }),
  }),
];
