import type { Bucket } from '../../documents/bucket/bucket.ts';
import { EsignError, PartialError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { writeJson, writeJsonLine } from '../../output/json.ts';
import { safeLine } from '../../output/text.ts';
import type { Context } from '../context.ts';
import type { Ids } from '../input/ids.ts';
import { errorText, reportOf } from '../report.ts';

const CONCURRENCY = 8;

/** Asks the bucket about each key and writes what it says, in order. One key: the answer, or its error. */
export async function forEachKey<T>(
  keys: Ids,
  ask: (bucket: Bucket, key: string) => Promise<T>,
  show: (answer: T) => string,
  context: Context,
): Promise<void> {
  const { terminal, json } = context;
  const bucket = await context.bucket();
  const answerOf = (key: string) => context.waiting(`Waiting for ${bucket.name}`, () => ask(bucket, key));
  try {
    const [only] = keys.ids;
    if (!keys.stream && only !== undefined) {
      const answer = await answerOf(only);
      return await (json ? writeJson(answer, terminal) : terminal.out(show(answer)));
    }
    await writeEach(keys, answerOf, show, context);
  } finally {
    bucket.close();
  }
}

async function writeEach<T>(
  keys: Ids,
  ask: (key: string) => Promise<T>,
  show: (answer: T) => string,
  context: Context,
): Promise<void> {
  const { terminal, json, redactor } = context;
  const attempt = async (key: string) => {
    try {
      return { key, answer: await ask(key) };
    } catch (error) {
      if (context.signal.aborted || !(error instanceof EsignError)) throw error;
      return { key, error };
    }
  };
  let failed = 0;
  for await (const one of mapInOrder(keys.ids, CONCURRENCY, attempt)) {
    if (one.error === undefined) {
      await (json ? writeJsonLine(one.answer, terminal) : terminal.out(show(one.answer)));
      continue;
    }
    failed++;
    if (json) await writeJsonLine({ key: one.key, error: reportOf(one.error) }, terminal);
    else
      terminal.err(
        `${safeLine(one.key)}: ${errorText(one.error, { json, redactor, style: terminal.styleErr })}`,
      );
  }
  if (failed > 0) throw new PartialError(`${failed} of ${keys.ids.length} failed; each is reported above.`);
}
