import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Context } from '../../cli/session/context.ts';
import { cancelFlags } from '../../envelopes/commands/cancel.ts';
import { createFlags } from '../../envelopes/commands/create/create-flags.ts';
import { readNewEnvelope } from '../../envelopes/commands/create/create-input.ts';
import { remindFlags } from '../../envelopes/commands/remind.ts';
import { replaceFlags } from '../../envelopes/commands/replace/replace-flags.ts';
import { sendFlags } from '../../envelopes/commands/send.ts';
import { remindAction } from '../../envelopes/plan-reminders.ts';
import { cancelAction, sendAction } from '../../envelopes/plan-writes.ts';
import { REMINDER_GAP } from '../../envelopes/sent-reminders.ts';
import type { KeyedQueue } from '../../kernel/async/keyed-queue.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { dropOldest } from '../../kernel/drop-oldest.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { UsageError } from '../../kernel/errors.ts';
import { isList, isRecord } from '../../kernel/json.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import { newRequestId } from '../../once/create-body.ts';
import type { ToolArguments } from './mcp-input.ts';
import { type PlannedCall, planAction, planCreate, planReplace } from './mcp-plans.ts';
import { questionText, UserQuestion } from './mcp-question.ts';
import { type Tool, type ToolCall, type ToolDefinition, tool, type UserAnswer } from './mcp-tool.ts';

const id = z.string().min(1).describe('envelope ID');
const confirming = {
  dryRun: z.boolean().optional().describe('true: only show what would happen'),
  confirmation: z.string().optional().describe('confirmation from the dry run'),
};
/** The key of all writes in the queue: they run one at a time, because the guards count the emails of one call. */
export const WRITE_QUEUE_KEY = 'writes';
const FIRST =
  'First call it with dryRun: true and show the result. After the user agrees, repeat it with the confirmation, if the dry run returned one.';
const THEN_ASKED =
  'Call it with the same arguments, without dryRun and confirmation. The client then asks the user to confirm.';

/** Returns the tools that change something, each after a dry run. They share the confirmations. */
export function writeTools(context: Context, queue: KeyedQueue): Tool[] {
  const makeConfirmations = () => new Confirmations<unknown>(() => performance.now());
  const means = { confirmations: makeConfirmations(), questions: makeConfirmations(), queue };
  const idFor = requestIdsByCall();
  const write = <F extends ToolArguments, More extends z.ZodRawShape>(facts: WriteFacts<F, More>) =>
    writeTool(facts, means, context);
  return [
    write({
      name: 'create',
      description:
        "Create a draft of an envelope from a template. `send` also emails it to its signers. A signer is a@b.c, or 'Ada Lovelace <a@b.c>;role=Tenant;order=1'.",
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
function requestIdsByCall(): (given: ToolArguments) => string {
  const ids = new Map<string, string>();
  return (given) => {
    const call = shortDigest(callFingerprint('create', given));
    const id = ids.get(call) ?? newRequestId();
    ids.set(call, id);
    dropOldest(ids, CALLS_MAX);
    return id;
  };
}

type WriteFacts<F extends ToolArguments, More extends z.ZodRawShape> = Omit<
  ToolDefinition<F, More>,
  'hints' | 'ofCall' | 'run'
> & {
  destroys?: boolean;
  plan: (flags: F, more: z.infer<z.ZodObject<More>>, given: ToolArguments) => Promise<PlannedCall>;
};

/** What the write tools share. */
interface WriteMeans {
  /** The dry runs that the assistant may confirm, where the client can't ask its user. */
  confirmations: Confirmations<unknown>;
  /** The calls that the user is asked about. */
  questions: Confirmations<unknown>;
  queue: KeyedQueue;
}

/**
 * Creates a tool that runs what was shown, once: with the user's confirmation if the client can ask for it, otherwise with the
 * confirmation of a dry run.
 */
function writeTool<F extends ToolArguments, More extends z.ZodRawShape>(
  { destroys = false, plan, ...facts }: WriteFacts<F, More>,
  { confirmations, questions, queue }: WriteMeans,
  context: Context,
): Tool {
  const prepare = async (flags: F, more: z.infer<z.ZodObject<More>>, given: ToolArguments) => {
    const planned = await plan(flags, more, given);
    const client = await context.session.client();
    await client.checkWrites(planned.writes);
    const act = async () => {
      await client.checkWrites(planned.writes);
      return planned.act();
    };
    return { planned, act };
  };
  const respond = async (flags: F, more: z.infer<z.ZodObject<More>>, call: ToolCall) => {
    const { canAskUser, answer } = call;
    const { dryRun, confirmation, ...rest } = call.given;
    const key = callFingerprint(facts.name, rest);
    if (dryRun === true) {
      const { planned, act } = await prepare(flags, more, rest);
      const next = canAskUser ? { next: THEN_ASKED } : { confirmation: confirmations.issue(key, act) };
      return { dryRun, data: planned.would, ...next };
    }
    if (!canAskUser) return { data: await redeem(confirmation, key, confirmations)() };
    if (answer !== undefined) return { data: await redeemAnswer(answer, key, questions)() };
    if (confirmation !== undefined)
      throw new UsageError('The user confirms this call, not the assistant. Nothing was done.', {
        hint: THEN_ASKED,
      });
    const { planned, act } = await prepare(flags, more, rest);
    const { question, would, skip } = planned;
    if (skip !== undefined) throw skip;
    const text = await questionText(question, would.warnings, context);
    return new UserQuestion(text, questions.issue(key, act));
  };
  return tool({
    ...facts,
    description: `${facts.description} ${FIRST}`,
    ofCall: confirming,
    hints: { readOnlyHint: false, destructiveHint: destroys, idempotentHint: false, openWorldHint: true },
    run: (flags, more, call) => queue.run(WRITE_QUEUE_KEY, () => respond(flags, more, call), call.canceled),
  });
}

type Act = () => Promise<unknown>;

/** Returns what the confirmation of a dry run allows. @throws UsageError if it is missing or invalid. */
function redeem(confirmation: unknown, key: string, confirmations: Confirmations<unknown>): Act {
  if (typeof confirmation !== 'string')
    throw new UsageError('The confirmation is missing. Nothing was done.', { hint: FIRST });
  return confirmations.redeem(confirmation, key);
}

/** Returns what the user has confirmed. @throws UsageError for any other answer. */
function redeemAnswer(
  { state, isConfirmed }: UserAnswer,
  key: string,
  questions: Confirmations<unknown>,
): Act {
  const act = questions.redeem(state, key);
  if (isConfirmed) return act;
  throw new UsageError('The user did not confirm. Nothing was done.', {
    hint: 'Ask the user what to change. Do not repeat the call unless they ask for it.',
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
export function callFingerprint(name: string, input: Record<string, unknown>): string {
  return JSON.stringify([name, sorted(input)]);
}

function sorted(value: unknown): unknown {
  if (isList(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return Object.fromEntries(names.sort().map((name): [string, unknown] => [name, sorted(value[name])]));
}
