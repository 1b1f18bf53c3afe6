// An origin in a process of its own: a small answer, 1.5 MB from one buffer that all answers share, and bodies that are read.
import http from 'node:http';

const large = Buffer.alloc(1536 * 1024);
const server = http.createServer((request, response) => {
  request.resume();
  if (request.method === 'POST') request.on('end', () => response.end());
  else response.end(request.url === '/large' ? large : 'hello');
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
