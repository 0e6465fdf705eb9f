import type { Client } from '../../../api/client.ts';
import type { Envelope, Template } from '../../../api/resource-types.ts';
import { sentRoles } from '../../../catalog/template-roles.ts';
import { accountText, peopleAt } from '../../../cli/input/confirm.ts';
import { askChoice } from '../../../cli/input/prompts.ts';
import type { Context } from '../../../cli/session/context.ts';
import { UsageError } from '../../../kernel/errors.ts';
import type { EnvelopeInput } from '../../../once/create-body.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { findProblems } from '../../envelope-problems.ts';
import {
  lastSigners,
  numberTurns,
  readRecentEnvelopes,
  rolesUsedWithTemplate,
} from '../../signer-suggestions.ts';
import { renderPreview } from './envelope-preview.ts';
import { askOrder, askSigners, askSubject, askTemplate } from './envelope-questions.ts';
import { lookBeforeSending } from './look-before-sending.ts';

/** How long to wait for recent envelopes, which are only used for suggestions. */
const TIMEOUT_MS = 5_000;
const MAX_TEMPLATES = 1_000;

export interface GivenByFlags {
  templateId: string | undefined;
  /** The envelope as set by the flags, with no signers if none were given. */
  envelope: Omit<EnvelopeInput, 'templateId'>;
  /** Only shows the request. */
  dryRun: boolean;
}

/**
 * Prompts for what the flags leave out: template, signers by role, who signs first, and the subject. Then shows the envelope and
 * asks whether to send it. Creates nothing.
 * @throws UsageError if the user quits at the summary.
 */
export async function promptForEnvelope(input: GivenByFlags, context: Context): Promise<EnvelopeInput> {
  const client = await context.session.client();
  const { templates, recent } = await loadSuggestions(client, input, context);
  context.terminal.err('Nothing is created until you confirm. Press Ctrl-C to quit.\n\n');
  const [given] = input.templateId === undefined ? [] : templates;
  const template = given ?? (await askTemplate(templates));
  const sent = sentRoles(template);
  const roles = sent.length > 0 ? sent : rolesUsedWithTemplate(recent, template.id);
  const { signers: named, signingOrder } = input.envelope;
  if (named.length === 0)
    context.terminal.err(
      "Type each signer's address, or name and address: Ada Lovelace <ada@example.com>\n\n",
    );
  const signers = named.length > 0 ? named : await askSigners(roles, lastSigners(recent));
  const isOrdered = signingOrder !== undefined || signers.some(({ order }) => order !== undefined);
  const order = isOrdered || signers.length < 2 ? numbered(signers, signingOrder) : await askOrder(signers);
  const subject = input.envelope.subject ?? (await askSubject());
  const envelope = { ...input.envelope, ...order, subject, templateId: template.id };
  const problems = findProblems(signers, { names: roles, inferred: sent.length === 0 });
  const { notes, repeats } = await lookBeforeSending(envelope, context);
  const warnings = [
    ...problems.map(({ text }) => text),
    ...notes,
    ...(repeats === undefined ? [] : [repeats]),
  ];
  return confirm(envelope, { template, warnings }, input, context);
}

/** Numbers signers who sign one after the other as listed. */
function numbered(
  signers: EnvelopeInput['signers'],
  signingOrder: string | undefined,
): Pick<EnvelopeInput, 'signers' | 'signingOrder'> {
  const [first] = signers;
  const isUnnumbered = signingOrder === 'SEQUENTIAL' && signers.every(({ order }) => order === undefined);
  return { signingOrder, signers: isUnnumbered && first ? numberTurns(signers, first) : signers };
}

async function loadSuggestions(
  client: Client,
  { templateId }: GivenByFlags,
  context: Context,
): Promise<{ templates: Template[]; recent: Envelope[] }> {
  const { signal } = context.interrupt;
  const spinner = await startSpinner('Reading templates and recent envelopes', context.terminal);
  try {
    const [templates, recent] = await Promise.all([
      templateId === undefined
        ? listTemplates(client, signal)
        : [await client.templates.get(templateId, signal)],
      // Suggestions are optional: a key that can't read envelopes or a slow list must not fail the command.
      readRecentEnvelopes(client, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])).catch(() => []),
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
    if (templates.push(template) >= MAX_TEMPLATES) break;
  }
  if (templates.length === 0)
    throw new UsageError('The account has no templates.', {
      hint: "Create one in the service's web dashboard.",
    });
  return templates;
}

/** Shows the envelope, and asks what to do with it unless this is a dry run. */
async function confirm(
  envelope: EnvelopeInput,
  { template, warnings }: { template: Template; warnings: readonly string[] },
  { dryRun }: GivenByFlags,
  { session, terminal }: Context,
): Promise<EnvelopeInput> {
  const account = await accountText(session);
  const redact = (text: string) => terminal.redactor.redact(text);
  const view = { columns: process.stderr.columns || 80, style: terminal.styleErr, redact };
  terminal.err(renderPreview({ envelope, template, account, warnings }, view));
  if (dryRun) return envelope;
  const people = peopleAt(envelope.signers.map(({ email }) => email));
  const decision = await askChoice<'send' | 'draft' | 'quit'>(
    'What next?',
    [
      { value: 'draft', name: 'Keep as draft' },
      { value: 'send', name: `Send to ${people}` },
      { value: 'quit', name: 'Quit' },
    ],
    envelope.send ? 'send' : 'draft',
  );
  if (decision === 'quit') throw new UsageError('Not confirmed; nothing was created.');
  return { ...envelope, send: decision === 'send' };
}
