import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** What Helmet sets, which is the same for every request: asking its thirteen handlers each time takes as long as finding the route. */
const fields = Object.entries(helmetFields());

/**
 * The headers of every answer. Nothing is loaded and nobody may frame it; a page that needs more says so itself. Whether the
 * server is reached by HTTPS is for the proxy in front of it to say, so no header demands it.
 */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  for (const [name, value] of fields) response.setHeader(name, value);
  next();
};

function helmetFields(): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const fields: Record<string, string> = {};
  response.setHeader = (name, value) => {
    fields[name] = String(value);
    return response;
  };
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] } },
    strictTransportSecurity: false,
  })(request, response, (error) => {
    if (error !== undefined) throw new Error('the security headers can not be made', { cause: error });
  });
  return fields;
}
