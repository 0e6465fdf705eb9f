import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { closeAtEnd } from './opened.ts';
import { portOf } from './server.ts';

export interface TestProxy {
  /** Without http://. */
  address: string;
  /** The requested target as written: `GET http://…` or `CONNECT host:port`. */
  asked: string[];
  /** The user and password of each request, or undefined. */
  users: (string | undefined)[];
  close(): void;
}

export interface ProxyOptions {
  /** Returns this status for everything instead of forwarding it. */
  refuse?: number;
  /** Reads the request and never responds. */
  hang?: boolean;
  /** Where every request goes, for any host in it: `127.0.0.1:port`. */
  to?: string;
}

/** A real HTTP proxy on loopback: forwards plain requests and opens tunnels. */
export async function startProxy(options: ProxyOptions = {}): Promise<TestProxy> {
  const proxy: TestProxy = { address: '', asked: [], users: [], close: () => undefined };
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage) => {
    proxy.asked.push(`${method} ${url}`);
    const basic = headers['proxy-authorization']?.replace('Basic ', '');
    proxy.users.push(basic === undefined ? undefined : Buffer.from(basic, 'base64').toString());
  };
  const server = createServer((incoming, response) => {
    note(incoming);
    if (options.hang) return;
    if (options.refuse !== undefined) {
      response.writeHead(options.refuse, { 'content-type': 'text/html' }).end('<p>no</p>');
      return;
    }
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const target = new URL(incoming.url ?? '');
    const [host, port] = (options.to ?? `${target.hostname}:${target.port}`).split(':');
    // The path as written: a URL would normalize it.
    const path = (incoming.url ?? '').slice(target.origin.length);
    const onward = request({ host, port, path, method: incoming.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (incoming, socket: Socket) => {
    note(incoming);
    socket.on('error', () => undefined);
    if (options.hang) return;
    if (options.refuse !== undefined) {
      socket.end(`HTTP/1.1 ${options.refuse} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${options.to ?? incoming.url}`);
    const onward = connect(Number(port || 80), hostname.replace(/^\[(.*)\]$/, '$1'), () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.address = `127.0.0.1:${portOf(server)}`;
  proxy.close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return closeAtEnd(proxy);
}
