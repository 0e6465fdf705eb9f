import { createServer, request as send } from 'node:http';

const API = '/api/v1/';

/**
 * Relays between a client and a sandbox and changes nothing: bytes, statuses, headers, cut bodies and resets arrive as
 * they were sent. Each exchange of the API is handed to `judged`; the control plane and the pages pass unread.
 * @param {string} upstream origin of the sandbox
 * @param {(exchange: import('./judge.js').Exchange & { left: boolean }) => void} judged
 */
export async function startRelay(upstream, judged) {
  const server = createServer((incoming, outgoing) => {
    const watched = incoming.url.startsWith(API);
    const exchange = { method: incoming.method, url: incoming.url, headers: incoming.headers };
    const body = watched ? collected(incoming) : Promise.resolve(Buffer.alloc(0));
    const done = (response) => {
      if (!watched) return;
      const left = response === null && outgoing.destroyed && outgoing.leaving !== true;
      void body.then((bytes) => judged({ ...exchange, body: bytes, response, left }));
    };
    pass({ incoming, outgoing, upstream, watched }, done);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Calls `done` once: with the complete response, or with null if it was missing or partial. */
function pass({ incoming, outgoing, upstream, watched }, done) {
  const { hostname, port } = new URL(upstream);
  const { method, url: path } = incoming;
  // Uses a connection per request: an idle one that the sandbox closes would look like a lost response.
  const headers = [...withoutConnection(incoming.rawHeaders), 'connection', 'close'];
  const call = send({ hostname, port, method, path, headers, setHost: false, agent: false });
  let ended = false;
  const end = (response) => {
    if (!ended) done(response);
    ended = true;
  };
  call.on('response', (reply) => {
    const { statusCode: status, statusMessage, headers: replyHeaders } = reply;
    outgoing.writeHead(status, statusMessage, withoutConnection(reply.rawHeaders));
    const chunks = [];
    if (watched) reply.on('data', (chunk) => chunks.push(chunk));
    reply.on('end', () => end({ status, headers: replyHeaders, body: Buffer.concat(chunks) }));
    reply.on('error', () => {
      breakOff(outgoing, (socket) => socket.end());
      end(null);
    });
    reply.pipe(outgoing);
  });
  call.on('error', ({ message }) => {
    const quietly = message === 'socket hang up';
    if (!outgoing.headersSent)
      breakOff(outgoing, (socket) => (quietly ? socket.end() : socket.resetAndDestroy()));
    end(null);
  });
  outgoing.on('close', () => call.destroy());
  incoming.on('error', () => undefined).pipe(call);
}

/** Records that the sandbox ended it, not the client. */
function breakOff(outgoing, how) {
  if (!outgoing.destroyed) outgoing.leaving = true;
  if (outgoing.socket) how(outgoing.socket);
}

/** Headers of one connection are not forwarded to the other. */
function withoutConnection(raw) {
  return raw.filter((_, i) => !/^(?:connection|keep-alive)$/i.test(raw[i - (i % 2)]));
}

async function collected(stream) {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  await new Promise((resolve) => stream.once('close', resolve));
  return Buffer.concat(chunks);
}
