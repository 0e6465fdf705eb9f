import { BlockList, isIP } from 'node:net';
import type { Environment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { isLocalhostName, isLoopbackHost } from './localhost.ts';

/*
 * Chooses the proxy of a request to the service, the bucket, and in the doctor. The rules are those of curl: HTTPS_PROXY applies to
 * https, HTTP_PROXY to http, ALL_PROXY to both, and lower-case names have priority.
 */

export interface HttpProxy {
  url: URL;
  port: number;
  /** The environment variable that sets the proxy. */
  variable: string;
}

/** Returns the proxy for an address, or undefined for a direct connection. @throws UsageError if it is not the URL of an HTTP proxy. */
export function proxyFor(env: Environment, target: URL): HttpProxy | undefined {
  return isExempt(env, target) ? undefined : proxyForScheme(env, target.protocol);
}

/** Returns the proxy for a scheme (`https:`), ignoring NO_PROXY. @throws UsageError if it is not the URL of an HTTP proxy. */
export function proxyForScheme(env: Environment, protocol: string): HttpProxy | undefined {
  const lower = `${protocol.slice(0, -1)}_proxy`;
  const variable = [lower, lower.toUpperCase(), 'all_proxy', 'ALL_PROXY'].find((name) => env[name]);
  const value = variable === undefined ? undefined : env[variable];
  if (variable === undefined || !value) return undefined;
  const address = value.includes('://') ? value : `http://${value}`;
  if (/^socks/i.test(address))
    throw new UsageError(`${variable} is a SOCKS proxy, which esign can't use.`, {
      hint: 'Set HTTPS_PROXY to an HTTP proxy, or add the host to NO_PROXY for a direct connection.',
    });
  // A URL ends its host at these characters, so a part of the user name would become the host.
  if (/:\/\/[^@/?#\\]*[/?#\\].*@/.test(address))
    throw new UsageError(
      `The user name or password in ${variable} contains a character with a meaning in URLs.`,
      {
        hint: 'Write \\ as %5C, / as %2F, ? as %3F, # as %23, and @ as %40, such as http://DOMAIN%5Cuser:password@proxy.example:3128.',
      },
    );
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.port === '0')
    throw new UsageError(`${variable} is not a valid HTTP proxy URL.`, {
      hint: 'Set it to a URL such as http://proxy.example:3128, or unset it.',
    });
  return { url, variable, port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) };
}

/** Returns the variables that exempt this machine from the proxy, for a child process that uses a sandbox on any port. */
export function exemptLoopback(env: Environment): Readonly<Record<string, string>> {
  const exempt = env.no_proxy || env.NO_PROXY;
  const hosts = [...(exempt ? [exempt] : []), '127.0.0.1', 'localhost', '::1'].join(',');
  return { no_proxy: hosts, NO_PROXY: hosts };
}

/** Returns the URL of a host, which may be a bare IPv6 address. */
export function urlOf(protocol: string, hostname: string, port?: number): URL {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${host}${port === undefined ? '' : `:${port}`}`);
}

/** Returns the proxy as shown to the user, without credentials. */
export function proxyLabel({ url, variable }: HttpProxy): string {
  return `${url.origin} (${variable})`;
}

/** Returns the Proxy-Authorization header; no header if the proxy URL has no credentials. */
export function authorization({ url }: HttpProxy): Readonly<Record<string, string>> {
  const credentials = basicCredentials(url);
  return credentials === undefined ? {} : { 'proxy-authorization': credentials };
}

/** Returns the user name and password in a URL as a header value, or undefined if it has neither. */
export function basicCredentials(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined;
  const user = `${decoded(url.username)}:${decoded(url.password)}`;
  return `Basic ${Buffer.from(user).toString('base64')}`;
}

export function proxySecrets(env: Environment): string[] {
  return ['http:', 'https:'].flatMap((protocol) => {
    try {
      const proxy = proxyForScheme(env, protocol);
      if (!proxy?.url.password) return [];
      const basic = authorization(proxy)['proxy-authorization']?.replace('Basic ', '') ?? '';
      return [proxy.url.password, decoded(proxy.url.password), basic];
    } catch {
      // An invalid proxy is reported when it is used.
      return [];
    }
  });
}

/** Returns true for localhost names, and for plain http to loopback addresses, which never go through a proxy. */
export function isNeverProxied({ hostname, protocol }: URL): boolean {
  // For a proxy, they mean its own machine, and the key would leave this machine in plain text.
  return isLocalhostName(hostname) || (protocol === 'http:' && isLoopbackHost(hostname));
}

/**
 * Returns true for addresses that are never proxied, and for hosts in NO_PROXY, which lists hosts separated by commas or spaces, including their
 * subdomains: `host:port` for one port, `10.0.0.0/8` for a network, `*` for all.
 */
export function isExempt(env: Environment, target: URL): boolean {
  const host = bare(target.hostname);
  if (isNeverProxied(target)) return true;
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return (env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/).some((entry) => {
    if (entry === '') return false;
    if (entry === '*') return true;
    if (entry.includes('/')) return isInNetwork(host, entry);
    const [name, only] = nameAndPort(entry);
    if (only !== undefined && Number(only) !== Number(port)) return false;
    const suffix = bare(name).replace(/^\*?\./, '');
    return host === suffix || host.endsWith(`.${suffix}`);
  });
}

function isInNetwork(host: string, entry: string): boolean {
  const [network = '', bits = ''] = entry.split('/');
  const family = isIP(bare(network)) === 6 ? 'ipv6' : 'ipv4';
  try {
    const list = new BlockList();
    list.addSubnet(bare(network), Number.parseInt(bits, 10), family);
    return isIP(host) !== 0 && list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  } catch {
    // An invalid network exempts no host.
    return false;
  }
}

/** Splits an entry of NO_PROXY. An IPv6 address contains colons itself, so a port can only follow brackets. */
function nameAndPort(entry: string): [name: string, port: string | undefined] {
  if (!entry.startsWith('[') && entry.split(':').length > 2) return [canonical(entry), undefined];
  const [, name = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return [canonical(name), port];
}

/** Normalizes an IPv6 address to the form that URLs use. */
function canonical(name: string): string {
  const address = bare(name);
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname : name;
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
