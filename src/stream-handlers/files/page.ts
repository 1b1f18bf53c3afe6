import { STATUS_CODES, type ServerResponse } from 'node:http';

/** Responds with a small page. @param text a constant text, which is not escaped */
export function page(response: ServerResponse, status: number, text: string): void {
  const title = `${status} ${STATUS_CODES[status] ?? ''}`;
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Security-Policy', "default-src 'none'");
  response.end(`<!DOCTYPE html>\n<title>${title}</title>\n<h1>${title}</h1>\n<p>${text}</p>\n`);
}
