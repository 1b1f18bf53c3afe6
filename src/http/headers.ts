import helmet from 'helmet';

/**
 * The headers of every answer. Nothing is loaded and nobody may frame it; a page that needs more says so itself. Whether the
 * server is reached by HTTPS is for the proxy in front of it to say, so no header demands it.
 */
export const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] } },
  strictTransportSecurity: false,
});
