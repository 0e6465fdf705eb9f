import { Readable } from 'node:stream';
import { isRecord } from '../../kernel/json.ts';
import { readBounded } from '../../kernel/streams.ts';

/** The maximum size of an error body. S3 errors are a few hundred bytes of XML. */
const MAX_ERROR_BYTES = 64 * 1024;

/** The part of the SDK that sends one request. */
interface RequestHandler<Request, Options> {
  handle: (request: Request, options?: Options) => Promise<{ response: unknown }>;
}

/** Limits the memory and time for reading error bodies; the SDK alone would read all of any body. */
export function boundErrorBodies<Request, Options>(
  handler: RequestHandler<Request, Options>,
  timeoutMs: number,
): void {
  const handle = handler.handle.bind(handler);
  handler.handle = async (request, options) => {
    const answer = await handle(request, options);
    const { response } = answer;
    if (isRecord(response) && Number(response.statusCode) >= 300 && response.body instanceof Readable)
      response.body = await errorBody(response.body, timeoutMs);
    return answer;
  };
}

/** Returns the body, or no bytes if it is too long or stalls; the error then has only the status. */
async function errorBody(body: Readable, timeoutMs: number): Promise<Uint8Array> {
  const timer = setTimeout(() => body.destroy(), timeoutMs);
  try {
    return await readBounded(body, MAX_ERROR_BYTES);
  } catch {
    return new Uint8Array();
  } finally {
    clearTimeout(timer);
  }
}
