import { UsageError } from '../../kernel/errors.ts';
import { isRecord, tryParseJson } from '../../kernel/json.ts';

/** Faults of webhooks are named `webhooks.drop` in a flag, and nested in the settings. */
const WEBHOOKS = 'webhooks.';

/**
 * Returns the settings of faults given as flags: `lostReply` always occurs, `lostReply=POST /esign/envelopes$` for the matching requests,
 * and `lostReply={"rate":0.2}` as described. The sandbox checks names and settings.
 * @throws UsageError if the JSON is invalid.
 */
export function readFaultFlags(words: readonly string[]): Record<string, unknown> {
  const faults: Record<string, unknown> = {};
  const webhooks: Record<string, unknown> = {};
  for (const word of words) {
    const equals = word.indexOf('=');
    const name = equals < 0 ? word : word.slice(0, equals);
    const settings = equals < 0 ? {} : readSettings(word.slice(equals + 1), word);
    if (name.startsWith(WEBHOOKS)) webhooks[name.slice(WEBHOOKS.length)] = settings;
    else faults[name] = settings;
  }
  return Object.keys(webhooks).length > 0 ? { ...faults, webhooks } : faults;
}

function readSettings(text: string, word: string): Record<string, unknown> {
  if (!text.startsWith('{')) return { match: text };
  const settings = tryParseJson(text);
  if (isRecord(settings)) return settings;
  throw new UsageError(`The settings of --fault ${word} are not a JSON object.`, {
    hint: 'Example: --fault \'lostReply={"match":"POST /esign/envelopes$","times":1}\'',
  });
}
