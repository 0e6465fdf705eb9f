import { UsageError } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for a scheme, from HTTPS_PROXY or HTTP_PROXY in either case; the SDK knows none of these. */
export function proxyOf(env: Environment, scheme: 'http' | 'https'): URL | undefined {
  const name = `${scheme}_proxy`;
  const value = env[name.toUpperCase()] || env[name];
  if (!value) return undefined;
  const address = value.includes('://') ? value : `http://${value}`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new UsageError(`${name.toUpperCase()} is not the address of an HTTP proxy.`, {
      hint: 'Write it like http://proxy.example:3128.',
    });
  }
  return new URL(address);
}

/** NO_PROXY: hosts separated by commas or blanks, with all hosts below them; `host:port` for one port; `*` for all. */
export function bypasses(env: Environment, host: string, port: number): boolean {
  const wanted = bare(host);
  return (env.NO_PROXY || env.no_proxy || '').split(/[\s,]+/).some((entry) => {
    if (entry === '') return false;
    if (entry === '*') return true;
    const [name, only] = nameAndPort(entry);
    if (only !== undefined && Number(only) !== port) return false;
    const suffix = bare(name).replace(/^\*?\./, '');
    return wanted === suffix || wanted.endsWith(`.${suffix}`);
  });
}

/** An IPv6 address is all colons: it has a port only behind brackets. */
function nameAndPort(entry: string): [name: string, port: string | undefined] {
  if (!entry.startsWith('[') && entry.split(':').length > 2) return [entry, undefined];
  const [, name = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return [name, port];
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
