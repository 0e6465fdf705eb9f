import { UsageError } from '../kernel/errors.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** True for addresses that never leave this machine. */
export function isLoopback(url: URL): boolean {
  return LOOPBACK.test(url.hostname) || url.hostname.endsWith('.localhost');
}

/**
 * The base address without trailing slashes, query or fragment.
 * @throws UsageError when it is no http(s) URL, carries credentials, or is plain http to another machine.
 */
export function normalizeBaseUrl(text: string, options: { insecureHttp?: boolean | undefined } = {}): string {
  const example = 'It looks like https://api.example.com/api/v1.';
  if (!URL.canParse(text)) throw new UsageError(`The base URL is not a URL: ${text}`, { hint: example });
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new UsageError(`The base URL must start with https://, not ${url.protocol}//`, { hint: example });
  }
  if (url.username || url.password) {
    throw new UsageError('The base URL must not carry a user name or password.', { hint: example });
  }
  if (url.protocol === 'http:' && !isLoopback(url) && !options.insecureHttp) {
    throw new UsageError(`The base URL ${url.origin} is plain http: the API key would travel unencrypted.`, {
      hint: 'Use https://, or make the profile with --insecure-http if you accept that.',
    });
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
