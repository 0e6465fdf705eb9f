import { BlockList, isIP } from 'node:net';
import { UsageError } from '../errors.ts';
import { isLocalhostName } from './localhost.ts';

/*
 * Which way a request goes: one rule for the service, the bucket and the doctor, and that of curl. HTTPS_PROXY counts for
 * https, HTTP_PROXY for http, neither for the other; the lower-case name wins over the upper-case one.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

export interface HttpProxy {
  url: URL;
  port: number;
  /** The variable that names it. */
  variable: string;
}

/** The proxy on the way to an address; undefined where a request goes there directly. @throws UsageError */
export function proxyFor(env: Environment, target: URL): HttpProxy | undefined {
  return isExempt(env, target) ? undefined : proxyOf(env, target.protocol);
}

/** The proxy for a scheme (`https:`), NO_PROXY aside. @throws UsageError when it is no HTTP proxy's address. */
export function proxyOf(env: Environment, protocol: string): HttpProxy | undefined {
  const lower = `${protocol.slice(0, -1)}_proxy`;
  const variable = [lower, lower.toUpperCase()].find((name) => env[name]);
  const value = variable === undefined ? undefined : env[variable];
  if (variable === undefined || !value) return undefined;
  const address = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.port === '0')
    throw new UsageError(`${variable} is not the address of an HTTP proxy.`, {
      hint: 'Write it like http://proxy.example:3128, or unset it.',
    });
  return { url, variable, port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) };
}

/** The URL of a host, which may be a bare IPv6 address. */
export function urlOf(protocol: string, hostname: string, port?: number): URL {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${host}${port === undefined ? '' : `:${port}`}`);
}

/** How a proxy is shown: without its user and password. */
export function nameOf({ url, variable }: HttpProxy): string {
  return `${url.origin} (${variable})`;
}

/** What tells a proxy who asks. */
export function authorization({ url }: HttpProxy): Readonly<Record<string, string>> {
  if (url.username === '' && url.password === '') return {};
  const user = `${decoded(url.username)}:${decoded(url.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}

/** What of the proxies in the environment must not be shown. */
export function proxySecrets(env: Environment): string[] {
  return ['http:', 'https:'].flatMap((protocol) => {
    try {
      const proxy = proxyOf(env, protocol);
      if (!proxy?.url.password) return [];
      const basic = authorization(proxy)['proxy-authorization']?.replace('Basic ', '') ?? '';
      return [proxy.url.password, decoded(proxy.url.password), basic];
    } catch {
      // Reported where it is used.
      return [];
    }
  });
}

/**
 * Localhost names, and NO_PROXY: hosts separated by commas or blanks, each with all hosts below it; `host:port` for one port, `10.0.0.0/8` for
 * a network, `*` for all.
 */
export function isExempt(env: Environment, target: URL): boolean {
  const host = bare(target.hostname);
  // A proxy would look such a name up where it runs: a key for this machine would leave it in plain text.
  if (isLocalhostName(host)) return true;
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
    // No network: it exempts nobody.
    return false;
  }
}

/** An IPv6 address is all colons: it has a port only behind brackets. */
function nameAndPort(entry: string): [name: string, port: string | undefined] {
  if (!entry.startsWith('[') && entry.split(':').length > 2) return [canonical(entry), undefined];
  const [, name = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return [canonical(name), port];
}

/** IPv6 addresses have many spellings; a URL has one of them. */
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
