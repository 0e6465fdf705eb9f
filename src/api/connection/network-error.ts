import { counted } from '../../kernel/duration.ts';
import { codeOf, messageOf, NetworkError } from '../../kernel/errors.ts';
import { isLoopbackHost } from '../../kernel/network/localhost.ts';
import { type HttpProxy, proxyLabel } from '../../kernel/network/proxy.ts';
import { unknownIssuerHint } from '../../kernel/network/trust.ts';
import {
  CERTIFICATE,
  isOfConnecting,
  NEVER_SENT,
  REFUSED,
  UNKNOWN_ISSUER,
} from '../../kernel/network/unreachable.ts';

const AFTER_SENDING: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ECONNRESET: 'the connection was reset',
    EPIPE: 'the connection was closed',
    UND_ERR_SOCKET: 'the connection was closed before the response was complete',
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response was cut short',
    ERR_SSL_WRONG_VERSION_NUMBER: 'it does not support TLS',
    ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not support TLS',
  }),
);

const CHECK_BASE_URL = 'Check the base URL with `esign profiles show`.';

interface Facts {
  url: string;
  timeoutMs: number;
  timedOut: boolean;
  stopped?: boolean | undefined;
  proxy?: HttpProxy | undefined;
}

/** Converts an error of undici to a NetworkError, which shows whether the service may have received the request. */
export function networkError(error: unknown, facts: Facts): NetworkError {
  const { origin } = new URL(facts.url);
  const cause = causeOf(error);
  const code = codeOf(cause) ?? '';
  const refused = isOfConnecting(cause) ? REFUSED.get(code) : undefined;
  const neverSent = NEVER_SENT.get(code) ?? refused ?? CERTIFICATE.get(code) ?? ofTunnel(error, code);
  if (neverSent !== undefined) return unreachable(error, code, neverSent, facts);
  if (facts.stopped)
    return new NetworkError('NETWORK', `${origin} had not responded when the command was stopped.`, {
      cause: error,
      maybeReceived: true,
    });
  if (facts.timedOut || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new NetworkError(
      'TIMEOUT',
      `${origin} did not respond within ${counted(facts.timeoutMs / 1_000, 'second')}.`,
      {
        cause: error,
        maybeReceived: true,
        hint: 'Increase the limit with --timeout 60s or ESIGN_TIMEOUT.',
      },
    );
  }
  return new NetworkError('NETWORK', `The response from ${origin} was lost: ${lossOf(error, code)}.`, {
    cause: error,
    maybeReceived: true,
    hint: isNotHttp(error) || code.startsWith('ERR_SSL_') ? CHECK_BASE_URL : undefined,
  });
}

function unreachable(error: unknown, code: string, why: string, { url, proxy }: Facts): NetworkError {
  const way = proxy === undefined ? '' : ` through the proxy ${proxyLabel(proxy)}`;
  const kind = code === 'PROXY_TIMEOUT' ? 'TIMEOUT' : 'NETWORK';
  const isRefusedHere = code === 'ECONNREFUSED' && isLoopbackHost((proxy?.url ?? new URL(url)).hostname);
  return new NetworkError(kind, `Can't reach ${new URL(url).origin}${way}: ${why}.`, {
    cause: error,
    maybeReceived: false,
    isLasting: CERTIFICATE.has(code) || isRefusedHere,
    hint: UNKNOWN_ISSUER.has(code) ? unknownIssuerHint() : hintFor(code, proxy),
  });
}

function ofTunnel(error: unknown, code: string): string | undefined {
  return code.startsWith('PROXY_') ? messageOf(error) : undefined;
}

function lossOf(error: unknown, code: string): string {
  return isNotHttp(error)
    ? 'the response is not valid HTTP'
    : (AFTER_SENDING.get(code) ?? REFUSED.get(code) ?? messageOf(error));
}

/** Returns true for undici's parser errors, which are recognized by their name. */
function isNotHttp(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError';
}

/** Returns the error with the most specific code, because some errors are wrapped in others. */
function causeOf(error: unknown): unknown {
  const code = codeOf(error) ?? '';
  if ([NEVER_SENT, REFUSED, CERTIFICATE, AFTER_SENDING].some((known) => known.has(code))) return error;
  return error instanceof Error && codeOf(error.cause) !== undefined ? error.cause : error;
}

function hintFor(code: string, proxy: HttpProxy | undefined): string {
  if (proxy !== undefined) return `Check ${proxy.variable} and its password, or add the host to NO_PROXY.`;
  if (code === 'ECONNREFUSED')
    return 'Is it running? Start the sandbox with `esign sandbox start`, or check `esign profiles show`.';
  return 'Check your network connection, and the base URL with `esign profiles show`.';
}
