// A thread that requests `/healthz` of a server until it gets a message, and then reports how long the slowest response took, in ms. It has its own thread: a test that reads tens of MB
// in the same event loop would count its own time as the server's.
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new http.Agent({ keepAlive: true });
let longest = 0;
const stop = new AbortController();
parentPort.once('message', () => stop.abort());

function ask() {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    http.get({ host: '127.0.0.1', port: workerData, path: '/healthz', agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`/healthz returned ${response.statusCode}`));
      response.resume().once('end', () => {
        longest = Math.max(longest, performance.now() - begun);
        resolve();
      });
    }).once('error', reject);
  });
}

// The first connection and its code are not what is measured.
await ask();
longest = 0;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
parentPort.postMessage('asking');
while (!stop.signal.aborted) {
  await ask();
  await new Promise((resolve) => {
    setTimeout(resolve, 10);
  });
}
agent.destroy();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
parentPort.postMessage(longest);
