import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** The headers that Helmet sets. They are the same for every request; running Helmet's thirteen handlers each time would take as long as routing. */
const fields = Object.entries(helmetFields());

/**
 * The security headers of every response: it may load nothing, and no site may frame it. Pages that need more override them. No header
 * demands HTTPS, since only the proxy in front of the server knows whether the server is reached over HTTPS.
 */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  for (const [name, value] of fields) response.setHeader(name, value);
  next();
};

/** Makes browsers use only HTTPS from now on. For a server that serves HTTPS itself; otherwise that is the decision of the proxy in front of it. */
export const strictTransport: RequestHandler = (_request, response, next) => {
  response.setHeader('Strict-Transport-Security', 'max-age=31536000');
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
