import { createRequire } from 'node:module';

const { createInstance, getHttpOperationsFromSpec } = createRequire(import.meta.url)('@stoplight/prism-http');
const silent = new Proxy({}, { get: (_, name) => (name === 'child' ? () => silent : () => undefined) });
const PREFIX = '/api/v1';

/**
 * One request and its response, as sent over the wire.
 * @typedef {{ method: string, url: string, headers: Record<string, string>, body: Buffer, response: Reply | null }}
 * Exchange
 * @typedef {{ status: number, headers: Record<string, string>, body: Buffer }} Reply
 */

/**
 * Reads the contract once. The returned function lists the violations of an exchange. Without a response (the connection
 * broke), only the request is checked.
 * @returns {Promise<(exchange: Exchange) => Promise<string[]>>}
 */
export async function judgeOf(contract) {
  const operations = await getHttpOperationsFromSpec(contract);
  return async (exchange) => {
    const { response } = exchange;
    const problems = [];
    const output = response && {
      statusCode: response.status,
      headers: response.headers,
      body: bodyOf(response, 'response', problems),
    };
    const result = await prismOf(output).request(inputOf(exchange, problems), operations)();
    if (result._tag === 'Left') return [...problems, `request: ${result.left.name}: ${result.left.message}`];
    const { validations } = result.right;
    return [
      ...problems,
      ...validations.input.map((one) => worded('request', one)),
      ...validations.output.map((one) => worded('response', one)),
    ];
  };
}

/** Prism configured as its proxy configures it, but with the recorded response instead of one that it would fetch. */
function prismOf(output) {
  const config = {
    isProxy: true,
    errors: true,
    checkSecurity: true,
    validateRequest: true,
    validateResponse: output !== null,
    upstream: new URL('http://unused.invalid'),
    mock: {},
  };
  const forward = () => () => async () => ({ _tag: 'Right', right: output });
  return createInstance(config, { logger: silent, forward });
}

function inputOf({ method, url, headers, body }, problems) {
  const { pathname, searchParams } = new URL(url, 'http://loopback');
  const query = Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
  const path = pathname.startsWith(`${PREFIX}/`) ? pathname.slice(PREFIX.length) : pathname;
  return {
    method: method.toLowerCase(),
    url: { path, query },
    headers,
    body: bodyOf({ headers, body }, 'request', problems),
  };
}

function bodyOf({ headers, body }, side, problems) {
  if (body.length === 0) return undefined;
  const text = body.toString('utf8');
  if (!/^application\/(?:json|.+\+json)\b/i.test(headers['content-type'] ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch {
    problems.push(`${side}: body is not JSON`);
    return undefined;
  }
}

function worded(side, { path, message }) {
  return `${[side, ...(path ?? [])].join('.')}: ${message}`;
}
