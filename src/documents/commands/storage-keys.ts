import { Batch, type ItemResult } from '../../cli/batch.ts';
import { reportOf } from '../../cli/error-report.ts';
import type { ParsedIds } from '../../cli/input/ids.ts';
import type { Context } from '../../cli/session/context.ts';
import { EsignError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { writeJson } from '../../output/json.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { openBucketOf } from './open-bucket.ts';

const CONCURRENCY = 8;

/**
 * Sends a request to the bucket for each key and prints the responses in order, which are secrets that the user asked for. If there is only
 * one key, throws its error.
 */
export async function forEachKey<T>(
  keys: ParsedIds,
  ask: (bucket: Bucket, key: string) => Promise<T>,
  show: (response: T) => string,
  context: Context,
): Promise<void> {
  const bucket = await openBucketOf(context.session);
  const responseOf = (key: string) =>
    context.terminal.waiting(`Waiting for ${bucket.name}`, () => ask(bucket, key));
  try {
    const [only] = keys.ids;
    if (!keys.stream && only !== undefined) {
      const response = await responseOf(only);
      const { terminal } = context;
      return await (terminal.json ? writeJson(response, terminal) : terminal.out(show(response)));
    }
    const batch = new Batch(context, { secret: true });
    const attempt = (key: string): Promise<ItemResult> =>
      responseOf(key).then(
        (response) => ({ json: response, text: show(response) }),
        (error: unknown) => {
          if (context.interrupt.signal.aborted || !(error instanceof EsignError)) throw error;
          return { json: { key, error: reportOf(error, context.terminal) }, failure: { label: key, error } };
        },
      );
    for await (const result of mapInOrder(keys.ids, CONCURRENCY, attempt)) await batch.report(result);
    batch.end(keys.ids.length);
  } finally {
    bucket.close();
  }
}
