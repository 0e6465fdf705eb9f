import type { Envelope, Template } from '../../../api/schemas.ts';
import type { Choice, PromptSession } from '../../../cli/prompts/prompts.ts';
import {
  type Composition,
  type CompositionPart,
  type Contact,
  PARTS,
  rolesIn,
  setOrder,
} from '../../../envelopes/composition.ts';
import { parseSigner, type SignerInput, signerText } from '../../../envelopes/signer-mailbox.ts';
import { counted } from '../../../kernel/duration.ts';
import { sentenceOf, UsageError } from '../../../kernel/errors.ts';
import { LIMITS } from '../../../kernel/vocabulary.ts';
import { padded, safeLine, truncate, widthOf } from '../../../output/text.ts';
import { sentRoles } from '../../../templates/roles.ts';
import type { ComposeInput, Composing } from './composing.ts';

export async function askMissing(
  { templateId, envelope }: ComposeInput,
  composing: Composing,
): Promise<void> {
  const isGiven: Record<CompositionPart, boolean> = {
    template: templateId !== undefined,
    signers: envelope.signers.length > 0,
    order: envelope.signingOrder !== undefined,
    subject: envelope.subject !== undefined,
    message: envelope.message !== undefined,
  };
  for (const part of PARTS) {
    if (isGiven[part] || (part === 'order' && composing.composition.signers.length < 2)) continue;
    await askPart(part, composing);
  }
}

/** Asks for one part; the answer goes into the composition. `isChange`: a signer beyond the roles can be added. */
export async function askPart(part: CompositionPart, composing: Composing, isChange = false): Promise<void> {
  const { composition, conversation } = composing;
  if (part === 'template') await askTemplate(composing);
  else if (part === 'signers') await askSigners(composing, isChange);
  else if (part === 'subject')
    composition.subject = (await conversation.line('Email subject (optional):', composition.subject)).trim();
  else if (part === 'message') await askMessage(composing);
  else await askOrder(composing);
}

async function askTemplate({ composition, known, conversation }: Composing): Promise<void> {
  const { templates } = known;
  const current = composition.template?.id;
  const first = templates.filter((one) => one.id === current);
  const shown = [...first, ...templates.filter((one) => one.id !== current)];
  const width = Math.min(40, Math.max(...shown.map((one) => widthOf(nameOf(one)))));
  const choices = shown.map((template) => templateChoice(template, width));
  const chosen = await conversation.search(
    'Template:',
    (typed) => choices.filter(({ value }) => matches([value.name, value.id, value.description], typed)),
    () => 'No templates match. Type part of a name, ID, or description.',
  );
  setTemplate(composition, chosen, known.recent);
}

/** Sets the template. Signers chosen for the roles of another one keep their places. */
export function setTemplate(composition: Composition, template: Template, recent: readonly Envelope[]): void {
  if (composition.template?.id === template.id) return;
  const sent = sentRoles(template);
  composition.template = template;
  composition.roles = sent.length > 0 ? sent : rolesIn(recent, template.id);
}

function nameOf(template: Template): string {
  return safeLine(template.name || template.id);
}

function templateChoice(template: Template, width: number): Choice<Template> {
  const name = truncate(nameOf(template), width);
  const size = [
    template.pageCount ? counted(template.pageCount, 'page') : '',
    template.fields?.length ? counted(template.fields.length, 'field') : '',
  ].filter((text) => text !== '');
  const about = [size.join(', '), safeLine(template.description ?? '')]
    .filter((text) => text !== '')
    .join('. ');
  return {
    value: template,
    name: oneLine(`${padded(name, width)}  ${safeLine(template.id)}`),
    short: `${nameOf(template)} (${safeLine(template.id)})`,
    ...(about === '' ? {} : { description: oneLine(about) }),
  };
}

/** Truncates a text to the terminal's width without the cursor and the margin. */
function oneLine(text: string): string {
  return truncate(text, Math.max(20, (process.stderr.columns || 80) - 4));
}

function matches(texts: readonly (string | null | undefined)[], typed: string): boolean {
  const whole = texts.join(' ').toLocaleLowerCase();
  return typed
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word));
}

interface SignerQuestion {
  index: number;
  role: string | undefined;
  optional: boolean;
}
const NO_ONE = 'no one';

/** Asks for one signer per role, or for signers until there are no more. */
async function askSigners(composing: Composing, isChange: boolean): Promise<void> {
  const { roles, signers } = composing.composition;
  const { people } = composing.known;
  const isOpen = roles.length === 0 || isChange || signers.length > roles.length;
  for (let index = 0; index < (isOpen ? LIMITS.signers : roles.length); index++) {
    const question = { index, role: roles[index], optional: index >= Math.max(1, roles.length) };
    const signer = await askSigner(question, composing, people);
    if (signer === undefined) {
      signers.length = index;
      return;
    }
    signers[index] = signer;
  }
}

/** Returns undefined when there are no more signers. */
async function askSigner(
  question: SignerQuestion,
  { composition, conversation }: Composing,
  people: readonly Contact[],
): Promise<SignerInput | undefined> {
  const { index, role } = question;
  const current = composition.signers[index];
  const choices = (typed: string) => signerChoices(typed, question, current, composition, people);
  const chosen = await conversation.search<SignerInput | typeof NO_ONE>(
    signerLabel(question, composition, choices('').length === 0),
    choices,
    formatHint,
  );
  if (chosen === NO_ONE) return undefined;
  const name =
    chosen.name === chosen.email
      ? await conversation.line(`Name for ${safeLine(chosen.email)}:`)
      : chosen.name;
  return {
    ...(role === undefined ? {} : { role }),
    ...(current?.order === undefined ? {} : { order: current.order }),
    ...chosen,
    name: name.trim() || chosen.email,
  };
}

function signerLabel(
  { index, role, optional }: SignerQuestion,
  { roles }: Composition,
  needsExample: boolean,
): string {
  // With no one to choose from, show what to type.
  const example = needsExample ? ', such as Ada <ada@example.com>:' : ':';
  if (role !== undefined) return `${safeLine(role)}${example}`;
  if (optional) return 'Another signer:';
  return roles.length === 0 && index === 0 ? `Signer${example}` : `Signer ${index + 1}${example}`;
}

function signerChoices(
  typed: string,
  { index, role, optional }: SignerQuestion,
  current: SignerInput | undefined,
  composition: Composition,
  people: readonly Contact[],
): Choice<SignerInput | typeof NO_ONE>[] {
  const signers = composition.signers.filter((_, at) => at !== index);
  const others = signers.map((one) => one.email.toLowerCase());
  const rank = ({ email, roles }: Contact) =>
    2 * Number(email === typed) + Number(role !== undefined && roles.includes(role));
  const candidates = people
    .filter(({ email }) => !others.includes(email.toLowerCase()) && email !== current?.email)
    .filter(({ email, name }) => matches([email, name], typed))
    .sort((a, b) => rank(b) - rank(a));
  const isKnown = candidates.some(({ email }) => email === typed);
  const kept = current !== undefined && matches([current.email, current.name], typed) ? [current] : [];
  return [
    ...(isKnown ? [] : newSigner(typed, signers)),
    ...kept.map((signer) => signerChoice(signer, role)),
    ...(optional && typed === '' ? [{ value: NO_ONE, name: 'No one else' } as const] : []),
    ...candidates.map(contactChoice),
  ];
}

function contactChoice({ email, name, roles }: Contact): Choice<SignerInput> {
  const description = roles.length > 0 ? `previously signed as ${roles.map(safeLine).join(', ')}` : undefined;
  return signerChoice({ email, name }, undefined, description);
}

/** Shows the signer as you would type it, without the role in the question. */
function signerChoice(
  signer: SignerInput,
  role: string | undefined,
  description?: string,
): Choice<SignerInput> {
  const { role: own, ...rest } = signer;
  const text = safeLine(signerText(own === role ? rest : signer));
  return {
    value: signer,
    name: oneLine(text),
    short: text,
    ...(description === undefined ? {} : { description: oneLine(description) }),
  };
}

/** Returns the signer that was typed, unless they are a known contact. `others` are the envelope's other signers. */
function newSigner(typed: string, others: readonly SignerInput[]): Choice<SignerInput>[] {
  const parsed = tryParse(typed);
  if (parsed instanceof UsageError) return [];
  const same = others.find(({ email }) => email.toLowerCase() === parsed.email.toLowerCase());
  if (same === undefined) return [signerChoice(parsed, undefined, 'new signer')];
  // A person who signs in two roles has one name.
  const name = parsed.name === parsed.email ? same.name : parsed.name;
  return [signerChoice({ ...parsed, name }, undefined, 'already signs this envelope')];
}

function tryParse(typed: string): SignerInput | UsageError {
  try {
    return parseSigner(typed).signer;
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

function formatHint(typed: string): string {
  const parsed = typed.includes('@') ? tryParse(typed) : undefined;
  if (parsed instanceof UsageError) return safeLine(sentenceOf(parsed));
  return 'Type an address: ada@example.com, or Ada Lovelace <ada@example.com>';
}

type Turns = 'all' | 'listed' | 'asked';

async function askOrder({ composition, conversation }: Composing): Promise<void> {
  const chosen = await conversation.pick<Turns>('Signing order:', turns(composition), turnsOf(composition));
  const order = chosen === 'asked' ? await askTurns(composition.signers, conversation) : composition.signers;
  setOrder(composition, chosen === 'all' ? undefined : order);
}

function turns({ signers }: Composition): Choice<Turns>[] {
  const names = signers.map((one) => safeLine(one.name)).join(', then ');
  return [
    { value: 'all', name: 'Everyone at the same time' },
    { value: 'listed', name: 'One after the other', description: oneLine(names) },
    { value: 'asked', name: 'One after the other, in a different order' },
  ];
}

function turnsOf({ order, signers }: Composition): Turns {
  if (order !== 'SEQUENTIAL') return 'all';
  return signers.every((one, index) => (one.order ?? index + 1) === index + 1) ? 'listed' : 'asked';
}

/** Asks who signs when. The last signer needs no question. */
async function askTurns(
  signers: readonly SignerInput[],
  conversation: PromptSession,
): Promise<SignerInput[]> {
  const turn: SignerInput[] = [];
  for (;;) {
    const left = signers.filter((one) => !turn.includes(one));
    if (left.length < 2) return [...turn, ...left];
    const last = turn.at(-1);
    const question = last === undefined ? 'Who signs first?' : `Who signs after ${safeLine(last.name)}?`;
    const choices = left.map((one) => ({
      ...signerChoice({ email: one.email, name: one.name }, undefined),
      value: one,
    }));
    turn.push(await conversation.pick(oneLine(question), choices));
  }
}

/** Shown for a line break while the message is entered on one line. */
const LINE_BREAK = '⏎';

async function askMessage({ composition, conversation }: Composing): Promise<void> {
  const first = composition.message?.replace(/\r?\n/g, LINE_BREAK);
  const line = await conversation.line('Message (optional):', first, LINE_BREAK);
  composition.message = line.replaceAll(LINE_BREAK, '\n').trim();
}
