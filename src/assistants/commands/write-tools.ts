import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { newRequestId } from '../../envelopes/create.ts';
import { remindAction } from '../../envelopes/plan-reminders.ts';
import { cancelAction, sendAction } from '../../envelopes/plan-writes.ts';
import { REMINDER_GAP } from '../../envelopes/reminder-limits.ts';
import { parseSigner, type SignerInput, signerText } from '../../envelopes/signer-mailbox.ts';
import type { KeyedQueue } from '../../kernel/async/keyed-queue.ts';
import { dropOldest } from '../../kernel/bounded.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { UsageError } from '../../kernel/errors.ts';
import { isList, isRecord } from '../../kernel/json.ts';
import { LIMITS, SIGNING_ORDERS } from '../../kernel/vocabulary.ts';
import type { Context } from '../../session/context.ts';
import { type PlannedCall, planAction, planCreate, planReplace } from './mcp-plans.ts';
import { type Tool, tool } from './mcp-tool.ts';

const id = z.string().min(1).describe('envelope ID');
const signer = z.union([
  z.string().describe('Ada Lovelace <a@b.c>;role=Tenant;order=1'),
  z.strictObject({
    email: z.string(),
    name: z.string().optional(),
    role: z.string().optional(),
    order: z.int().min(1).optional(),
  }),
]);
const allowMissingRoles = z.boolean().optional().describe('only if the user asks for it');
const expiresInDays = z.int().min(1).max(3650).optional();
const mailboxes = z.array(z.string()).max(LIMITS.signers).optional();
/** zod's record type drops this key silently. */
const metadata = z.preprocess(
  (value, { addIssue }) => {
    if (isRecord(value) && Object.hasOwn(value, '__proto__'))
      addIssue({ code: 'custom', message: 'metadata must not have a __proto__ key' });
    return value;
  },
  z.record(z.string(), z.string()),
);

const confirming = {
  dryRun: z.boolean().optional().describe('true: only show what would happen'),
  confirmation: z.string().optional().describe('confirmation from the dry run'),
};
/** The key of all writes in the queue: they run one at a time, because the guards count the emails of one call. */
export const WRITES = 'writes';
const FIRST =
  'First call it with dryRun: true and show the user what would happen. After they agree, repeat the same arguments with the confirmation.';

/** Returns the tools that change something, each after a dry run. They share the confirmations. */
export function writeTools(context: Context, queue: KeyedQueue): Tool[] {
  const confirmations = new Confirmations<unknown>(() => performance.now());
  const idFor = requestIdsByCall();
  const write = <Wanted extends z.ZodObject>(facts: WriteFacts<Wanted>) =>
    writeTool(facts, { confirmations, queue }, context);
  return [
    write({
      name: 'create',
      description:
        'Create an envelope from a template, as a draft. With `send`, it is emailed to its signers immediately.',
      wanted: z.strictObject({
        template: z.string().min(1).describe('template ID'),
        signers: z.array(signer).min(1).max(LIMITS.signers),
        send: z.boolean().optional(),
        subject: z.string().optional(),
        message: z.string().optional(),
        metadata: metadata.optional(),
        expiresInDays,
        signingOrder: z.enum(SIGNING_ORDERS).optional(),
        allowMissingRoles,
        requestId: z
          .string()
          .min(1)
          .optional()
          .describe('idempotency key: the same ID never creates a second envelope'),
      }),
      plan: (given) => {
        const { template, signers, allowMissingRoles: allow, requestId, ...more } = given;
        const wanted = {
          ...more,
          templateId: template,
          signers: signers.map(signerOf),
        };
        const id = { requestId: requestId ?? idFor(given), rerun: requestId !== undefined };
        return planCreate(wanted, { ...id, allowMissing: allow ?? false }, context);
      },
    }),
    write({
      name: 'send',
      description: 'Send a draft. Its signers are emailed.',
      wanted: z.strictObject({ id, allowMissingRoles }),
      plan: ({ id: sent, allowMissingRoles: allowMissing = false }) =>
        planAction((means) => sendAction(means, { allowMissing }), sent, context),
    }),
    write({
      name: 'remind',
      description: 'Email a reminder to signers who have not signed.',
      wanted: z.strictObject({
        id,
        signer: z.string().min(1).optional().describe('ID or address of the signer to remind'),
        minGap: z
          .string()
          .optional()
          .describe(`skip signers reminded within this time; default ${REMINDER_GAP}`),
      }),
      plan: ({ id: reminded, minGap, signer: named }) => {
        const gapMs = readDuration(minGap ?? REMINDER_GAP, 'minGap');
        const signersOf = () => (named === undefined ? undefined : [named]);
        const options = { signersOf, gapMs, reportsRecent: true };
        return planAction((means) => remindAction(means, options), reminded, context);
      },
    }),
    write({
      name: 'cancel',
      description: 'Cancel an envelope permanently. Its signers are notified.',
      destroys: true,
      wanted: z.strictObject({
        id,
        reason: z.string().optional().describe('reason, stored with the envelope'),
      }),
      plan: ({ id: canceled, reason }) => {
        const options = { reason, evenIfDeclined: false };
        return planAction((means) => cancelAction(means, options), canceled, context);
      },
    }),
    write({
      name: 'replace',
      description:
        'Correct a signer, text, or date: creates a copy of the envelope with the changes, cancels the original, and sends the copy.',
      destroys: true,
      wanted: z.strictObject({
        id,
        signer: mailboxes.describe("replace a signer: 'old@b.c=Ada Lovelace <a@b.c>'"),
        addSigner: mailboxes,
        removeSigner: mailboxes.describe('address or ID of a signer to remove'),
        expiresInDays,
        subject: z.string().optional(),
        message: z.string().optional(),
        template: z.string().optional(),
        reason: z.string().optional(),
        draft: z
          .boolean()
          .optional()
          .describe('only create the copy, as a draft; nothing is sent or canceled'),
        evenIfSigned: z.boolean().optional().describe('only if the user asks for it'),
        allowMissingRoles,
      }),
      plan: ({ id: old, addSigner, removeSigner, expiresInDays: days, evenIfSigned = false, ...more }) => {
        const { draft = false, allowMissingRoles: allow = false, ...texts } = more;
        const changes = { 'add-signer': addSigner, 'remove-signer': removeSigner, 'expires-in-days': days };
        const allowed = { 'even-if-signed': evenIfSigned, 'allow-missing-roles': allow, draft };
        // The user has already confirmed.
        return planReplace(old, { ...texts, ...changes, ...allowed, yes: true }, context);
      },
    }),
  ];
}

/** The number of create calls whose request IDs are kept. */
const CALLS_MAX = 10_000;

/** Returns the same request ID for the same arguments, so that a call repeated after a lost result creates nothing twice. */
function requestIdsByCall(): (given: Record<string, unknown>) => string {
  const ids = new Map<string, string>();
  return (given) => {
    const call = shortDigest(callOf('create', given));
    const id = ids.get(call) ?? newRequestId();
    ids.set(call, id);
    dropOldest(ids, CALLS_MAX);
    return id;
  };
}

/** Parses a mailbox like --signer, and an object like a row of --signers-file. */
function signerOf(given: z.infer<typeof signer>): SignerInput {
  if (typeof given === 'string') return parseSigner(given).signer;
  const { email, name = email, role, order } = given;
  return parseSigner(signerText({ email, name, ...(role && { role }), ...(order && { order }) })).signer;
}

interface WriteFacts<Wanted extends z.ZodObject> {
  name: string;
  description: string;
  destroys?: true;
  wanted: Wanted;
  plan: (wanted: z.infer<Wanted>) => Promise<PlannedCall>;
}

/** Creates a tool that runs what its dry run has shown, once, with the confirmation. */
function writeTool<Wanted extends z.ZodObject>(
  facts: WriteFacts<Wanted>,
  { confirmations, queue }: { confirmations: Confirmations<unknown>; queue: KeyedQueue },
  context: Context,
): Tool {
  const { name, description, destroys = false, wanted, plan } = facts;
  const input: z.ZodObject = wanted.extend(confirming);
  const answer = async ({ dryRun, confirmation, ...rest }: z.infer<typeof input>) => {
    const call = callOf(name, rest);
    if (dryRun === true) {
      const { would, writes, act } = await plan(wanted.parse(rest));
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
    name,
    description: `${description} ${FIRST}`,
    input,
    hints: { readOnlyHint: false, destructiveHint: destroys, idempotentHint: false, openWorldHint: true },
    run: (given, canceled) => queue.run(WRITES, () => answer(given), canceled),
  });
}

/** How long a confirmation is valid, in ms. */
const LIFE_MS = 15 * 60_000;
/** The most open confirmations. */
const MAX_OPEN = 100;
/** The number of used confirmations to remember. */
const USED_MAX = 10_000;

/** The confirmations of dry runs. Each runs its action once, for the same call. */
export class Confirmations<T> {
  /** The calls that a dry run has shown, and their actions. */
  readonly #planned = new Map<string, { call: string; until: number; act: () => Promise<T> }>();
  readonly #used = new Set<string>();
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
    if (this.#used.has(value))
      throw new UsageError('This confirmation was already used.', {
        hint: 'The action may have run. Check with find or get before you call the tool again. With the same arguments, create keeps its request ID.',
      });
    const planned = this.#planned.get(value);
    if (planned === undefined || planned.until < this.#now())
      throw refused('This confirmation is unknown or has expired.');
    if (planned.call !== call) throw refused('This confirmation was issued for different arguments.');
    this.#planned.delete(value);
    this.#used.add(value);
    dropOldest(this.#used, USED_MAX);
    return planned.act;
  }
}

function refused(message: string): UsageError {
  return new UsageError(message, {
    hint: 'Nothing was done. Call the tool with dryRun: true, show the result, and repeat the same arguments with its confirmation.',
  });
}

/** Returns a text that identifies the call, regardless of the order of its arguments. */
export function callOf(name: string, input: Record<string, unknown>): string {
  return JSON.stringify([name, sorted(input)]);
}

function sorted(value: unknown): unknown {
  if (isList(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return Object.fromEntries(names.sort().map((name): [string, unknown] => [name, sorted(value[name])]));
}
