import * as z from 'zod';
import type { Context } from '../../cli/context.ts';
import { newRequestId } from '../../envelopes/create.ts';
import { type NewSigner, parseSigner, signerText } from '../../envelopes/signer-mailbox.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { UsageError } from '../../kernel/errors.ts';
import { isRecord } from '../../kernel/json.ts';
import { LIMITS, SIGNING_ORDERS } from '../../kernel/vocabulary.ts';
import { Confirmations, callOf } from './confirmations.ts';
import { type PlannedCall, planCancel, planCreate, planRemind, planReplace, planSend } from './plans.ts';
import { type Tool, tool } from './tool.ts';

const DEFAULT_GAP = '24h';

const id = z.string().min(1).describe('envelope id');
const signer = z.union([
  z.string().describe('Ada Lovelace <a@b.c>;role=Tenant;order=1'),
  z.strictObject({
    email: z.string(),
    name: z.string().optional(),
    role: z.string().optional(),
    order: z.int().min(1).optional(),
  }),
]);
const allowMissingRoles = z.boolean().optional().describe('only when the person says so');
const expiresInDays = z.int().min(1).max(3650).optional();
const mailboxes = z.array(z.string()).max(LIMITS.signers).optional();
/** The plan was agreed on already, and what is printed is none of a tool's. */
const UNASKED = { yes: true, quiet: false, 'dry-run': false };
/** A record of zod leaves this key out without a word. */
const metadata = z.preprocess(
  (value, { addIssue }) => {
    if (isRecord(value) && Object.hasOwn(value, '__proto__'))
      addIssue({ code: 'custom', message: 'metadata must not have the key __proto__' });
    return value;
  },
  z.record(z.string(), z.string()),
);

const confirming = {
  dryRun: z.boolean().optional().describe('true: only tell what would happen'),
  confirmation: z.string().optional().describe('what the dry run gave'),
};
const FIRST =
  'Call it with dryRun: true first, show the person what would happen, and only after their yes repeat the same arguments with its confirmation.';

/** What changes something, each only as its dry run has shown it. Confirmations last as long as this does. */
export function writeTools(context: Context): Tool[] {
  const confirmations = new Confirmations<unknown>(() => performance.now());
  const idFor = requestIdsByCall();
  const write = <Wanted extends z.ZodObject>(facts: WriteFacts<Wanted>) =>
    writeTool(facts, confirmations, context);
  return [
    write({
      name: 'create',
      description:
        'Create an envelope from a template: a draft, or with `send` mailed to its signers at once.',
      wanted: z.strictObject({
        template: z.string().min(1).describe('template id'),
        signers: z.array(signer).min(1).max(LIMITS.signers),
        send: z.boolean().optional(),
        subject: z.string().optional(),
        message: z.string().optional(),
        metadata: metadata.optional(),
        expiresInDays,
        signingOrder: z.enum(SIGNING_ORDERS).optional(),
        allowMissingRoles,
        requestId: z.string().min(1).optional().describe('the same one never creates twice'),
      }),
      plan: (given) => {
        const { template, signers, allowMissingRoles: allow, requestId, ...more } = given;
        const wanted = {
          ...more,
          templateId: template,
          signers: signers.map(signerOf),
        };
        const id = { requestId: requestId ?? idFor(given), rerun: requestId !== undefined };
        return planCreate(wanted, { ...id, allowMissingRoles: allow ?? false }, context);
      },
    }),
    write({
      name: 'send',
      description: 'Send a draft: its signers are mailed.',
      wanted: z.strictObject({ id, allowMissingRoles }),
      plan: (wanted) => planSend(wanted.id, wanted.allowMissingRoles ?? false, context),
    }),
    write({
      name: 'remind',
      description: 'Mail a reminder to those who have not signed.',
      wanted: z.strictObject({
        id,
        signer: z.string().min(1).optional().describe('id or address of the one to remind'),
        minGap: z.string().optional().describe(`nobody twice within; default ${DEFAULT_GAP}`),
      }),
      plan: ({ minGap, signer, ...wanted }) =>
        planRemind({ ...wanted, signer, gapMs: readDuration(minGap ?? DEFAULT_GAP, 'minGap') }, context),
    }),
    write({
      name: 'cancel',
      description: 'Cancel an envelope for good: its signers are told.',
      destroys: true,
      wanted: z.strictObject({ id, reason: z.string().optional().describe('for the record') }),
      plan: (wanted) => planCancel(wanted.id, wanted.reason, context),
    }),
    write({
      name: 'replace',
      description:
        'Put a wrong signer, text or date right: makes a new envelope as the old one but for the changes, cancels the old one, sends the new one.',
      destroys: true,
      wanted: z.strictObject({
        id,
        signer: mailboxes.describe("'old@b.c=Ada Lovelace <a@b.c>': somebody else for a signer"),
        addSigner: mailboxes,
        removeSigner: mailboxes.describe('address or id'),
        expiresInDays,
        subject: z.string().optional(),
        message: z.string().optional(),
        template: z.string().optional(),
        reason: z.string().optional(),
        draft: z.boolean().optional().describe('only make the new one'),
        evenIfSigned: z.boolean().optional().describe('only when the person says so'),
        allowMissingRoles,
      }),
      plan: ({ id: old, addSigner, removeSigner, expiresInDays: days, ...more }) => {
        const { draft = false, evenIfSigned = false, allowMissingRoles: allow = false, ...texts } = more;
        const changes = { 'add-signer': addSigner, 'remove-signer': removeSigner, 'expires-in-days': days };
        const leave = { 'even-if-signed': evenIfSigned, 'allow-missing-roles': allow, draft };
        return planReplace(old, { ...texts, ...changes, ...leave, ...UNASKED }, context);
      },
    }),
  ];
}

/** Request IDs are kept for this many different calls of create. */
const CALLS_MAX = 10_000;

/** Returns the same request ID for the same arguments, so that a call repeated after a lost answer creates nothing twice. */
function requestIdsByCall(): (given: Record<string, unknown>) => string {
  const ids = new Map<string, string>();
  return (given) => {
    const call = shortDigest(callOf('create', given));
    const id = ids.get(call) ?? newRequestId();
    ids.set(call, id);
    const [oldest] = ids.keys();
    if (ids.size > CALLS_MAX && oldest !== undefined) ids.delete(oldest);
    return id;
  };
}

/** A mailbox is read as --signer is, and an object as a line of --signers-file. */
function signerOf(given: z.infer<typeof signer>): NewSigner {
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

/** A tool that does what its dry run has shown, with the value that it gave, once. */
function writeTool<Wanted extends z.ZodObject>(
  facts: WriteFacts<Wanted>,
  confirmations: Confirmations<unknown>,
  context: Context,
): Tool {
  const { name, description, destroys = false, wanted, plan } = facts;
  const input: z.ZodObject = wanted.extend(confirming);
  return tool(
    {
      name,
      description: `${description} ${FIRST}`,
      input,
      hints: { readOnlyHint: false, destructiveHint: destroys, idempotentHint: false, openWorldHint: true },
      run: async ({ dryRun, confirmation, ...rest }) => {
        const call = callOf(name, rest);
        if (dryRun === true) {
          const { would, writes, act } = await plan(wanted.parse(rest));
          const check = async () => (await context.session.client()).writes.check(writes);
          await check();
          const checked = async () => {
            await check();
            return act();
          };
          return { dryRun, data: would, confirmation: confirmations.give(call, checked) };
        }
        if (typeof confirmation !== 'string')
          throw new UsageError('There is no confirmation: nothing was done.', { hint: FIRST });
        return { data: await confirmations.take(confirmation, call)() };
      },
    },
    context,
  );
}
