import { ServerResponse } from 'node:http';
import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Clock } from '../../../kernel/clock.ts';
import { ApiError, errorText } from '../base/errors.ts';
import type { Faults, RequestPlan } from './faults.ts';

const API = '/api/v1';

const PROXY_PAGE = `<html>
<head><title>502 Bad Gateway</title></head>
<body><center><h1>502 Bad Gateway</h1></center></body>
</html>
`;

interface AnswerFacts {
  faults: Faults;
  /** The machine's clock. */
  clock: Clock;
  /** Aborts when the service stops responding. */
  closing: AbortSignal;
  /** Returns the real response. */
  answer: () => Response | Promise<Response>;
}

/** Responds to an API request according to the faults. Any other request, such as one to the control plane, gets the real response. */
export async function respondWithFaults(
  request: Request,
  { incoming, outgoing }: HttpBindings | Http2Bindings,
  facts: AnswerFacts,
): Promise<Response> {
  const { faults, clock, closing, answer } = facts;
  const { pathname } = new URL(request.url);
  const isApi = pathname === API || pathname.startsWith(`${API}/`);
  if (!isApi || !(outgoing instanceof ServerResponse)) return answer();
  const plan = faults.forRequest(request.method, pathname.slice(API.length));
  const response = isWorkDone(plan) ? await answer() : null;
  if (plan.delayMs > 0) await clock.sleep(plan.delayMs, closing).catch(() => undefined);
  if (closing.aborted) return RESPONSE_ALREADY_SENT;
  switch (plan.answer) {
    case 'reset':
      incoming.socket.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    case 'lostReply':
      incoming.socket.destroy();
      return RESPONSE_ALREADY_SENT;
    case 'error500':
    case 'html502':
      return falseResponse(plan.answer);
    case 'truncate':
    case null:
      if (!response) return RESPONSE_ALREADY_SENT;
      return plan.answer === null ? response : cutShort(response, outgoing);
  }
}

function isWorkDone({ answer, done }: RequestPlan): boolean {
  return answer === null || answer === 'lostReply' || answer === 'truncate' || done;
}

function falseResponse(answer: 'error500' | 'html502'): Response {
  if (answer === 'html502')
    return new Response(PROXY_PAGE, { status: 502, headers: { 'Content-Type': 'text/html' } });
  const text = errorText(new ApiError('INTERNAL_ERROR', 'Something went wrong'));
  return new Response(text, { status: 500, headers: { 'Content-Type': 'application/json; charset=utf-8' } });
}

/** Sends half of the body with the Content-Length of the whole body. A response without a body is unchanged. */
async function cutShort(response: Response, outgoing: ServerResponse): Promise<Response> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const { status, headers } = response;
  if (bytes.length < 2) return new Response(null, { status, headers });
  outgoing.writeHead(status, { ...Object.fromEntries(headers), 'content-length': bytes.length });
  outgoing.write(bytes.subarray(0, bytes.length >> 1), () => outgoing.destroy());
  return RESPONSE_ALREADY_SENT;
}
