import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { codeOf, messageOf } from '../../../kernel/errors.ts';
import { SIGNATURE_HEADER } from '../../../kernel/vocabulary.ts';

/** How long a receiver may take to respond, in ms. */
const RESPONSE_TIMEOUT_MS = 30_000;

interface WebhookPost {
  url: string;
  body: string;
  /** The value of the signature header; null sends none. */
  signature: string | null;
  signal: AbortSignal;
}

export interface WebhookOutcome {
  status: number | null;
  error: string | null;
  ms: number;
}

/**
 * Sends a delivery (Events): a POST of exactly these bytes, with the signature if there is one. Redirects aren't followed. Never rejects,
 * because a missing response is an outcome, too.
 */
export function postWebhook(post: WebhookPost): Promise<WebhookOutcome> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  return new Promise((resolve) => {
    const fail = (cause: unknown) => {
      const error = messageOf(cause) || codeOf(cause) || 'connection failed';
      resolve({ status: null, error, ms: elapsed() });
    };
    try {
      const bytes = Buffer.from(post.body);
      const send = new URL(post.url).protocol === 'https:' ? httpsRequest : httpRequest;
      const request = send(post.url, {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          'content-length': bytes.length,
          'user-agent': 'esign-sandbox',
          ...(post.signature === null ? {} : { [SIGNATURE_HEADER]: post.signature }),
        },
        signal: post.signal,
      });
      const timer = setTimeout(
        () => request.destroy(new Error(`no response within ${RESPONSE_TIMEOUT_MS / 1000} s`)),
        RESPONSE_TIMEOUT_MS,
      );
      request.on('response', (response) => {
        resolve({ status: response.statusCode ?? null, error: null, ms: elapsed() });
        response.on('error', () => undefined);
        response.resume();
      });
      request.on('error', fail);
      request.on('close', () => clearTimeout(timer));
      request.end(bytes);
    } catch (error) {
      fail(error);
    }
  });
}

/** Returns the HMAC-SHA256 of the payload's bytes in lowercase hex (Events). */
export function signatureOf(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body, 'utf8').digest('hex');
}
