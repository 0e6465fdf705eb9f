import { Batch } from '../../cli/batch.ts';
import type { Context } from '../../cli/context.ts';
import type { Ids } from '../../cli/input/ids.ts';
import type { Interrupt } from '../../cli/interrupt.ts';
import { reportOf } from '../../cli/report.ts';
import type { Bucket } from '../../documents/bucket/bucket.ts';
import { EsignError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { writeJson } from '../../output/json.ts';

const CONCURRENCY = 8;

/** How the responses are displayed. */
export interface KeyView<T> {
  show: (response: T) => string;
  /** Whether the responses are secrets that the user asked for. */
  secret?: boolean;
}

/** Sends a request to the bucket for each key and prints the responses in order. If there is only one key, throws its error. */
export async function forEachKey<T>(
  keys: Ids,
  ask: (bucket: Bucket, key: string) => Promise<T>,
  { show, secret = false }: KeyView<T>,
  context: Context,
): Promise<void> {
  const bucket = await context.session.bucket();
  const responseOf = (key: string) =>
    context.terminal.waiting(`Waiting for ${bucket.name}`, () => ask(bucket, key));
  try {
    const [only] = keys.ids;
    if (!keys.stream && only !== undefined) {
      const out = secret ? context.terminal : context.terminal.hidingSecrets();
      const response = await responseOf(only);
      return await (context.terminal.json ? writeJson(response, out) : out.out(show(response)));
    }
    const batch = new Batch(context, { secret });
    for await (const one of mapInOrder(keys.ids, CONCURRENCY, (key) =>
      attempt(key, responseOf, context.interrupt),
    )) {
      const { key, error } = one;
      if (error === undefined) await batch.report({ json: one.response, text: show(one.response) });
      else await batch.report({ json: { key, error: reportOf(error) }, failure: { label: key, error } });
    }
    batch.end(keys.ids.length);
  } finally {
    bucket.close();
  }
}

type Attempt<T> = { key: string; response: T; error?: undefined } | { key: string; error: EsignError };

async function attempt<T>(
  key: string,
  ask: (key: string) => Promise<T>,
  interrupt: Interrupt,
): Promise<Attempt<T>> {
  try {
    return { key, response: await ask(key) };
  } catch (error) {
    if (interrupt.signal.aborted || !(error instanceof EsignError)) throw error;
    return { key, error };
  }
}
