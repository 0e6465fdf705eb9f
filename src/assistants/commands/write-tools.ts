import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { cancelFlags } from '../../envelopes/commands/cancel.ts';
import { createFlags } from '../../envelopes/commands/create/create-flags.ts';
import { readNewEnvelope } from '../../envelopes/commands/create/create-input.ts';
import { remindFlags } from '../../envelopes/commands/remind.ts';
import { replaceFlags } from '../../envelopes/commands/replace/replace-flags.ts';
import { sendFlags } from '../../envelopes/commands/send.ts';
import { newRequestId } from '../../envelopes/create.ts';
import { remindAction } from '../../envelopes/plan-reminders.ts';
import { cancelAction, sendAction } from '../../envelopes/plan-writes.ts';
import { REMINDER_GAP } from '../../envelopes/reminder-times.ts';
import type { KeyedQueue } from '../../kernel/async/keyed-queue.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { dropOldest } from '../../kernel/drop-oldest.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { UsageError } from '../../kernel/errors.ts';
import { isList, isRecord } from '../../kernel/json.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import type { Context } from '../../session/context.ts';
import type { Values } from './mcp-input.ts';
import { type PlannedCall, planAction, planCreate, planReplace } from './mcp-plans.ts';
import { type Call, type Tool, type ToolFacts, tool } from './mcp-tool.ts';

const id = z.string().min(1).describe('envelope ID');
const confirming = {
  dryRun: z.boolean().optional().describe('true: only show what would happen'),
  confirmation: z.string().optional().describe('confirmation from the dry run'),
};
/** The key of all writes in the queue: they run one at a time, because the guards count the emails of one call. */
export const WRITE_QUEUE_KEY = 'writes';
const FIRST =
  'First call it with dryRun: true and show the result. After the user agrees, repeat it with the confirmation.';

/** Returns the tools that change something, each after a dry run. They share the confirmations. */
export function writeTools(context: Context, queue: KeyedQueue): Tool[] {
  const confirmations = new Confirmations<unknown>(() => performance.now());
  const idFor = requestIdsByCall();
  const write = <F extends Values, More extends z.ZodRawShape>(facts: WriteFacts<F, More>) =>
    writeTool(facts, { confirmations, queue }, context);
  return [
    write({
      name: 'create',
      description:
        "Create an envelope from a template, as a draft. With `send`, it is emailed to its signers immediately. A signer is a@b.c, or 'Ada Lovelace <a@b.c>;role=Tenant;order=1'.",
      flags: createFlags,
      uses: wordList(`template signer send subject message metadata expires-in-days signing-order
        allow-missing-roles request-id`),
      required: ['template', 'signer'],
      more: {},
      plan: async (flags, _, given) => {
        const { envelope } = await readNewEnvelope({ ...flags, json: true }, context);
        const { 'request-id': own, 'allow-missing-roles': allowMissing } = flags;
        const requestId = own ?? idFor(given);
        return planCreate(envelope, { requestId, allowMissing }, context);
      },
    }),
    write({
      name: 'send',
      description: 'Send a draft. Its signers are emailed.',
      flags: sendFlags,
      uses: ['allow-missing-roles'],
      more: { id },
      plan: (flags, { id: sent }) => {
        const allowMissing = flags['allow-missing-roles'];
        return planAction((means) => sendAction(means, { allowMissing }), sent, context);
      },
    }),
    write({
      name: 'remind',
      description: `Email a reminder to signers who have not signed, and were not reminded within ${REMINDER_GAP}.`,
      flags: remindFlags,
      uses: ['signer', 'min-gap'],
      more: { id },
      plan: ({ signer, 'min-gap': gapMs = readDuration(REMINDER_GAP, 'min-gap') }, { id: reminded }) => {
        const signersOf = () => (signer === undefined ? undefined : [signer]);
        const options = { signersOf, gapMs, reportsRecent: true };
        return planAction((means) => remindAction(means, options), reminded, context);
      },
    }),
    write({
      name: 'cancel',
      description: 'Cancel an envelope permanently. Its signers are notified.',
      destroys: true,
      flags: cancelFlags,
      uses: ['reason'],
      more: { id },
      plan: ({ reason }, { id: canceled }) => {
        const options = { reason, evenIfDeclined: false };
        return planAction((means) => cancelAction(means, options), canceled, context);
      },
    }),
    write({
      name: 'replace',
      description:
        'Correct a signer, text, or date: creates a copy of the envelope with the changes, cancels the original, and sends the copy.',
      destroys: true,
      flags: replaceFlags,
      uses: wordList(`signer add-signer remove-signer expires-in-days subject message template reason draft
        even-if-signed allow-missing-roles`),
      more: { id },
      // The user has already confirmed.
      plan: (flags, { id: old }) => planReplace(old, { ...flags, yes: true }, context),
    }),
  ];
}

/** The number of create calls whose request IDs are kept. */
const CALLS_MAX = 10_000;

/** Returns the same request ID for the same arguments, so that a call repeated after a lost result creates nothing twice. */
function requestIdsByCall(): (given: Values) => string {
  const ids = new Map<string, string>();
  return (given) => {
    const call = shortDigest(callKey('create', given));
    const id = ids.get(call) ?? newRequestId();
    ids.set(call, id);
    dropOldest(ids, CALLS_MAX);
    return id;
  };
}

type WriteFacts<F extends Values, More extends z.ZodRawShape> = Omit<
  ToolFacts<F, More>,
  'hints' | 'ofCall' | 'run'
> & {
  destroys?: boolean;
  plan: (flags: F, more: z.infer<z.ZodObject<More>>, given: Values) => Promise<PlannedCall>;
};

/** Creates a tool that runs what its dry run has shown, once, with the confirmation. */
function writeTool<F extends Values, More extends z.ZodRawShape>(
  { destroys = false, plan, ...facts }: WriteFacts<F, More>,
  { confirmations, queue }: { confirmations: Confirmations<unknown>; queue: KeyedQueue },
  context: Context,
): Tool {
  const answer = async (flags: F, more: z.infer<z.ZodObject<More>>, { given }: Call) => {
    const { dryRun, confirmation, ...rest } = given;
    const call = callKey(facts.name, rest);
    if (dryRun === true) {
      const { would, writes, act } = await plan(flags, more, rest);
      const client = await context.session.client();
      await client.checkWrites(writes);
      const checked = async () => {
        await client.checkWrites(writes);
        return act();
      };
      return { dryRun, data: would, confirmation: confirmations.issue(call, checked) };
    }
    if (typeof confirmation !== 'string')
      throw new UsageError('The confirmation is missing. Nothing was done.', { hint: FIRST });
    return { data: await confirmations.redeem(confirmation, call)() };
  };
  return tool({
    ...facts,
    description: `${facts.description} ${FIRST}`,
    ofCall: confirming,
    hints: { readOnlyHint: false, destructiveHint: destroys, idempotentHint: false, openWorldHint: true },
    run: (flags, more, call) => queue.run(WRITE_QUEUE_KEY, () => answer(flags, more, call), call.canceled),
  });
}

/** How long a confirmation is valid, in ms. */
const LIFE_MS = 15 * 60_000;
/** The most open confirmations. */
const MAX_OPEN = 100;

/** The confirmations of dry runs. Each runs its action once, for the same call. */
export class Confirmations<T> {
  /** The calls that a dry run has shown, and their actions. */
  readonly #planned = new Map<string, { call: string; until: number; act: () => Promise<T> }>();
  readonly #now: () => number;

  /** `now`: a clock in ms that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  issue(call: string, act: () => Promise<T>): string {
    const value = `confirm-${randomBytes(9).toString('base64url')}`;
    this.#planned.set(value, { call, until: this.#now() + LIFE_MS, act });
    dropOldest(this.#planned, MAX_OPEN);
    return value;
  }

  /**
   * Uses up a confirmation and returns its action.
   * @throws UsageError if it is unknown, was already used, has expired, or belongs to another call.
   */
  redeem(value: string, call: string): () => Promise<T> {
    const planned = this.#planned.get(value);
    if (planned === undefined || planned.until < this.#now())
      throw new UsageError('This confirmation has expired, or was already used.', {
        hint: 'If it was used, the action may have run: check with find or get. Otherwise, start again with dryRun: true. With the same arguments, create keeps its request ID.',
      });
    if (planned.call !== call)
      throw new UsageError('This confirmation was issued for different arguments.', {
        hint: 'Nothing was done. Call the tool with dryRun: true, show the result, and repeat the same arguments with its confirmation.',
      });
    this.#planned.delete(value);
    return planned.act;
  }
}

/** Returns a text that identifies the call, regardless of the order of its arguments. */
export function callKey(name: string, input: Record<string, unknown>): string {
  return JSON.stringify([name, sorted(input)]);
}

function sorted(value: unknown): unknown {
  if (isList(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return Object.fromEntries(names.sort().map((name): [string, unknown] => [name, sorted(value[name])]));
}
