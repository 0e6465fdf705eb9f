import { UsageError } from '../kernel/errors.ts';
import { isLoopbackHost } from '../kernel/network/localhost.ts';

/**
 * Returns the base URL without trailing slashes, query, or fragment.
 * @throws UsageError if it is not an http(s) URL, contains credentials, or is plain http to another machine.
 */
export function normalizeBaseUrl(text: string, options: { insecureHttp?: boolean | undefined } = {}): string {
  const example = 'A base URL looks like https://api.example.com/api/v1.';
  if (!URL.canParse(text)) throw new UsageError(`The base URL "${text}" is not a URL.`, { hint: example });
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new UsageError(`The base URL must start with https://, not ${url.protocol}//.`, { hint: example });
  }
  if (url.username || url.password) {
    throw new UsageError('The base URL must not contain a username or password.', { hint: example });
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !options.insecureHttp) {
    throw new UsageError(
      `The base URL ${url.origin} uses plain http, which would send the API key unencrypted.`,
      {
        hint: 'Use https://, or create the profile with --insecure-http to allow it.',
      },
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
