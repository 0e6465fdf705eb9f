import type { IncomingMessage } from 'node:http';

/**
 * Returns true if the Host header names this machine: loopback, the bound address, or the local address of the connection. Rejects a name
 * that an attacker points here (DNS rebinding).
 */
export function isLocalHost(incoming: IncomingMessage, boundHost: string): boolean {
  const host = incoming.headers.host ?? '';
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost' || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name)) return true;
  return name === boundHost.toLowerCase() || name === incoming.socket.localAddress;
}
