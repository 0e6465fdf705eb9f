import type { Client } from '../../../api/client.ts';
import type { Template } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { BACK, type Back, type Choice, Conversation } from '../../../cli/prompts/wizard.ts';
import { remarksOn } from '../../../envelopes/completeness.ts';
import { type Composition, composed, PARTS, type Part, stepsFor } from '../../../envelopes/composition.ts';
import { recentEnvelopes } from '../../../envelopes/contacts.ts';
import type { NewEnvelope } from '../../../envelopes/create.ts';
import { counted } from '../../../kernel/duration.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { sentRoles } from '../../../templates/roles.ts';
import { askStep, type Knowledge, setTemplate } from './compose-questions.ts';
import { accountOf, renderComposition } from './compose-view.ts';

/** What the command line gave, and what it did not. */
export interface Given {
  templateId: string | undefined;
  /** The envelope as far as flags say; its signers are empty when there were none. */
  envelope: Omit<NewEnvelope, 'templateId'>;
  /** Flags that go into an equivalent command as they are. */
  options: readonly (readonly [string, string | true])[];
  /** Nothing is to be created: the request is only shown. */
  dryRun: boolean;
}

/** How long a convenience may keep the person waiting. */
const PATIENCE_MS = 5_000;
/** More templates than anybody scrolls through. */
const TEMPLATES = 1_000;

/**
 * Asks for what the command line left out, shows what will be sent, and asks whether to send it.
 * Nothing is created here.
 * @throws UsageError when the person decides against it.
 */
export async function compose(given: Given, context: Context): Promise<NewEnvelope> {
  const client = await context.session.client();
  const known = await gather(client, given, context);
  const composition = beginning(given, known);
  const talk = new Conversation(context.terminal.styleErr);
  context.terminal.err('Esc goes back, Ctrl-C ends. Nothing is created before you say so.\n\n');
  await run(composition, known, missingParts(given), talk);
  for (;;) {
    const envelope = completed(given, composition);
    await showPreview(envelope, composition, given, context);
    await talk.begin();
    const decision = await talk.pick('What now?', decisions(envelope, given));
    if (decision === 'draft' || decision === 'send') return { ...envelope, send: decision === 'send' };
    if (decision === 'show') return envelope;
    if (decision === 'leave') throw new UsageError('Not confirmed; nothing was created.');
    await change(composition, known, talk);
  }
}

function completed({ envelope }: Given, composition: Composition): NewEnvelope {
  return { ...envelope, ...composed(composition), templateId: composition.template?.id ?? '' };
}

async function showPreview(
  envelope: NewEnvelope,
  { template, roles }: Composition,
  { options }: Given,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const { redactor } = terminal;
  const account = await accountOf(context.session);
  const redact = (text: string) => redactor.redact(text);
  const showing = { columns: process.stderr.columns || 80, style: terminal.styleErr, redact };
  const inferred = template === undefined || sentRoles(template).length === 0;
  const remarks = remarksOn(envelope.signers, { names: roles, inferred }).map(({ text }) => text);
  terminal.err(renderComposition({ envelope, template, account, options, remarks }, showing));
}

async function gather(client: Client, { templateId }: Given, context: Context): Promise<Knowledge> {
  const { terminal } = context;
  const { signal } = context.interrupt;
  const spinner = await startSpinner('Reading templates and recent envelopes', terminal);
  try {
    const [templates, recent] = await Promise.all([
      templateId === undefined
        ? listTemplates(client, signal)
        : [await client.templates.get(templateId, signal)],
      // Only a convenience: a key that may not read envelopes, or a slow list, is no reason to fail.
      recentEnvelopes(client, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])).catch(() => []),
    ]);
    signal.throwIfAborted();
    return { templates, recent };
  } finally {
    spinner.stop();
  }
}

async function listTemplates(client: Client, signal: AbortSignal): Promise<Template[]> {
  const templates: Template[] = [];
  for await (const template of client.templates.list({ signal })) {
    if (templates.push(template) >= TEMPLATES) break;
  }
  if (templates.length === 0)
    throw new UsageError('There are no templates to make an envelope from.', {
      hint: 'They are made in the web dashboard of the service.',
    });
  return templates;
}

function beginning({ templateId, envelope }: Given, known: Knowledge): Composition {
  const { signers, subject, message, signingOrder } = envelope;
  const order = (['PARALLEL', 'SEQUENTIAL'] as const).find((one) => one === signingOrder);
  const composition: Composition = { roles: [], signers: [...signers], subject, message, order };
  const [template] = known.templates;
  if (templateId !== undefined && template) setTemplate(composition, template, known.recent);
  return composition;
}

function missingParts({ templateId, envelope }: Given): ReadonlySet<Part> {
  const isGiven: Record<Part, boolean> = {
    template: templateId !== undefined,
    signers: envelope.signers.length > 0,
    order: envelope.signingOrder !== undefined,
    subject: envelope.subject !== undefined,
    message: envelope.message !== undefined,
  };
  return new Set(PARTS.filter((part) => !isGiven[part]));
}

/** Asks these questions in turn; BACK asks the one before again. BACK at the first one is returned. */
async function run(
  composition: Composition,
  known: Knowledge,
  parts: ReadonlySet<Part>,
  talk: Conversation,
  more = false,
): Promise<Back | undefined> {
  /** Where on the screen each step so far began. */
  const begins: number[] = [];
  for (;;) {
    const step = stepsFor(composition, parts, more)[begins.length];
    if (step === undefined) return undefined;
    begins.push(talk.length);
    if ((await askStep(step, composition, known, talk)) !== BACK) continue;
    begins.pop();
    const before = begins.pop();
    if (before !== undefined) talk.rewind(before);
    else if (more) return BACK;
  }
}

type Decision = 'draft' | 'send' | 'show' | 'change' | 'leave';

function decisions(envelope: NewEnvelope, { dryRun }: Given): Choice<Decision>[] {
  const people = counted(envelope.signers.length, 'signer');
  const draft: Choice<Decision> = {
    value: 'draft',
    name: 'Keep it as a draft',
    description: 'Nobody is mailed.',
  };
  const send: Choice<Decision> = {
    value: 'send',
    name: 'Send it now',
    description: `${people} ${envelope.signers.length === 1 ? 'is' : 'are'} asked to sign. The flag for this: --send`,
  };
  const show: Choice<Decision> = {
    value: 'show',
    name: 'Show the request',
    description: 'Nothing is created.',
  };
  const likely = dryRun ? [show] : envelope.send ? [send, draft] : [draft, send];
  return [
    ...likely,
    { value: 'change', name: 'Change something' },
    { value: 'leave', name: 'Leave it', description: 'Nothing is created.' },
  ];
}

const PART_NAMES: Readonly<Record<Part, string>> = {
  template: 'Template',
  signers: 'Signers',
  order: 'Who signs when',
  subject: 'Subject',
  message: 'Message',
};

/** Asks what to change, and asks that again. Where roles follow from it, the signers, too. */
async function change(composition: Composition, known: Knowledge, talk: Conversation): Promise<void> {
  const changeable = PARTS.filter(
    (part) =>
      (part !== 'order' || composition.signers.length > 1) &&
      (part !== 'template' || known.templates.length > 1),
  );
  const part = await talk.pick(
    'Change what?',
    changeable.map((one) => ({ value: one, name: PART_NAMES[one] })),
  );
  if (part === BACK) return;
  const before = composition.roles;
  await run(composition, known, new Set([part]), talk, true);
  if (composition.roles !== before)
    await run(composition, known, new Set<Part>(['signers', 'order']), talk, true);
}
