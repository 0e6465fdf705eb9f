import type { Envelope, Template } from '../../../api/schemas.ts';
import { MessageLine } from '../../../cli/prompts/message-line.ts';
import { BACK, type Back, type Choice, type Conversation } from '../../../cli/prompts/wizard.ts';
import { type Composition, type Step, setOrder } from '../../../envelopes/composition.ts';
import { type Contact, contactsIn, rolesIn } from '../../../envelopes/contacts.ts';
import { type NewSigner, parseSigner, signerText } from '../../../envelopes/signer-mailbox.ts';
import { counted } from '../../../kernel/duration.ts';
import { sentenceOf, UsageError } from '../../../kernel/errors.ts';
import { padded, safeLine, truncate, widthOf } from '../../../output/text.ts';
import { sentRoles } from '../../../templates/roles.ts';

/** What is known before the first question is asked. */
export interface Knowledge {
  templates: readonly Template[];
  recent: readonly Envelope[];
}

/** Asks one question; its answer goes into the composition. BACK leaves the composition as it is. */
export async function askStep(
  step: Step,
  composition: Composition,
  known: Knowledge,
  talk: Conversation,
): Promise<Back | undefined> {
  switch (step.part) {
    case 'template':
      return askTemplate(composition, known, talk);
    case 'signers':
      return askSigner(step, composition, contactsIn(known.recent), talk);
    case 'order':
      return askOrder(composition, talk);
    case 'subject':
      return askSubject(composition, talk);
    case 'message':
      return askMessage(composition, talk);
  }
}

async function askTemplate(
  composition: Composition,
  known: Knowledge,
  talk: Conversation,
): Promise<Back | undefined> {
  const { templates } = known;
  const current = composition.template?.id;
  const first = templates.filter((one) => one.id === current);
  const shown = [...first, ...templates.filter((one) => one.id !== current)];
  const width = Math.min(40, Math.max(...shown.map((one) => widthOf(nameOf(one)))));
  const choices = shown.map((template) => templateChoice(template, width));
  const chosen = await talk.search(
    'Template:',
    (typed) => choices.filter(({ value }) => fitsAll([value.name, value.id, value.description], typed)),
    () => 'No template fits. Type a part of its name, id or description.',
  );
  if (chosen === BACK) return BACK;
  setTemplate(composition, chosen, known.recent);
  return undefined;
}

/** Takes the template. Signers chosen for the roles of another one stay, each in its place. */
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

/** Cut to the terminal, cursor and margin left aside. */
function oneLine(text: string): string {
  return truncate(text, Math.max(20, (process.stderr.columns || 80) - 4));
}

function fitsAll(texts: readonly (string | null | undefined)[], typed: string): boolean {
  const whole = texts.join(' ').toLocaleLowerCase();
  return typed
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word));
}

type SignerStep = Extract<Step, { part: 'signers' }>;
const NOBODY = 'nobody';

async function askSigner(
  step: SignerStep,
  composition: Composition,
  people: readonly Contact[],
  talk: Conversation,
): Promise<Back | undefined> {
  const { index, role } = step;
  // After Escape at the name, the address that was typed is offered again.
  let current = composition.signers[index];
  const choices = (typed: string) => signerChoices(typed, step, current, composition, people);
  for (const begin = talk.length; ; talk.rewind(begin)) {
    const chosen = await talk.search<NewSigner | typeof NOBODY>(
      signerLabel(step, composition, choices('').length === 0),
      choices,
      whatToType,
    );
    if (chosen === BACK) return BACK;
    if (chosen === NOBODY) {
      composition.signers.length = index;
      return undefined;
    }
    const name =
      chosen.name === chosen.email ? await talk.line(`Name of ${safeLine(chosen.email)}:`) : chosen.name;
    if (name === BACK) {
      current = chosen;
      continue;
    }
    const { order } = composition.signers[index] ?? {};
    composition.signers[index] = {
      ...(role === undefined ? {} : { role }),
      ...(order === undefined ? {} : { order }),
      ...chosen,
      name: name || chosen.email,
    };
    return undefined;
  }
}

function signerLabel(
  { index, role, optional }: SignerStep,
  { roles }: Composition,
  needsExample: boolean,
): string {
  // An empty list says nothing of what to type.
  const example = needsExample ? ', such as Ada <ada@example.com>:' : ':';
  if (role !== undefined) return `${safeLine(role)}${example}`;
  if (optional) return 'Further signer:';
  return roles.length === 0 && index === 0 ? `Signer${example}` : `Signer ${index + 1}${example}`;
}

function signerChoices(
  typed: string,
  { index, role, optional }: SignerStep,
  current: NewSigner | undefined,
  composition: Composition,
  people: readonly Contact[],
): Choice<NewSigner | typeof NOBODY>[] {
  const signers = composition.signers.filter((_, at) => at !== index);
  const others = signers.map((one) => one.email.toLowerCase());
  const rank = ({ email, roles }: Contact) =>
    2 * Number(email === typed) + Number(role !== undefined && roles.includes(role));
  const candidates = people
    .filter(({ email }) => !others.includes(email.toLowerCase()) && email !== current?.email)
    .filter(({ email, name }) => fitsAll([email, name], typed))
    .sort((a, b) => rank(b) - rank(a));
  const isKnown = candidates.some(({ email }) => email === typed);
  const kept = current !== undefined && fitsAll([current.email, current.name], typed) ? [current] : [];
  return [
    ...(isKnown ? [] : newSigner(typed, signers)),
    ...kept.map((signer) => signerChoice(signer, role)),
    ...(optional && typed === '' ? [{ value: NOBODY, name: 'nobody else' } as const] : []),
    ...candidates.map(contactChoice),
  ];
}

function contactChoice({ email, name, roles }: Contact): Choice<NewSigner> {
  const description = roles.length > 0 ? `signed as ${roles.map(safeLine).join(', ')} before` : undefined;
  return signerChoice({ email, name }, undefined, description);
}

/** The signer as one would type it; the role that is asked for goes without saying. */
function signerChoice(signer: NewSigner, role: string | undefined, description?: string): Choice<NewSigner> {
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
function newSigner(typed: string, others: readonly NewSigner[]): Choice<NewSigner>[] {
  const parsed = tryParse(typed);
  if (parsed instanceof UsageError) return [];
  const same = others.find(({ email }) => email.toLowerCase() === parsed.email.toLowerCase());
  if (same === undefined) return [signerChoice(parsed, undefined, 'new here')];
  // Somebody who signs in two roles has one name.
  const name = parsed.name === parsed.email ? same.name : parsed.name;
  return [signerChoice({ ...parsed, name }, undefined, 'already a signer of this envelope')];
}

function tryParse(typed: string): NewSigner | UsageError {
  try {
    return parseSigner(typed).signer;
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

function whatToType(typed: string): string {
  const parsed = typed.includes('@') ? tryParse(typed) : undefined;
  if (parsed instanceof UsageError) return safeLine(sentenceOf(parsed));
  return 'Type an address: ada@example.com, or Ada Lovelace <ada@example.com>';
}

type Turns = 'all' | 'listed' | 'asked';

async function askOrder(composition: Composition, talk: Conversation): Promise<Back | undefined> {
  for (const begin = talk.length; ; talk.rewind(begin)) {
    const chosen = await talk.pick<Turns>('Who signs when:', turns(composition), turnsOf(composition));
    if (chosen === BACK) return BACK;
    const order = chosen === 'asked' ? await askTurns(composition.signers, talk) : composition.signers;
    if (order === BACK) continue;
    setOrder(composition, chosen === 'all' ? undefined : order);
    return undefined;
  }
}

function turns({ signers }: Composition): Choice<Turns>[] {
  const names = signers.map((one) => safeLine(one.name)).join(', then ');
  return [
    { value: 'all', name: 'all at once' },
    { value: 'listed', name: 'one after the other', description: oneLine(names) },
    { value: 'asked', name: 'one after the other, in another order' },
  ];
}

function turnsOf({ order, signers }: Composition): Turns {
  if (order !== 'SEQUENTIAL') return 'all';
  return signers.every((one, index) => (one.order ?? index + 1) === index + 1) ? 'listed' : 'asked';
}

/** The signers in the order of their turns; who is last goes without asking. */
async function askTurns(signers: readonly NewSigner[], talk: Conversation): Promise<NewSigner[] | Back> {
  const begin = talk.length;
  const turn: NewSigner[] = [];
  for (;;) {
    const left = signers.filter((one) => !turn.includes(one));
    if (left.length < 2) return [...turn, ...left];
    const question =
      turn.length === 0 ? 'Who signs first?' : `Who signs after ${safeLine(turn.at(-1)?.name ?? '')}?`;
    const next = await talk.pick(
      oneLine(question),
      left.map((one) => ({ ...signerChoice({ email: one.email, name: one.name }, undefined), value: one })),
    );
    if (next !== BACK) turn.push(next);
    else if (turn.pop() === undefined) return BACK;
    else talk.rewind(begin + turn.length);
  }
}

async function askSubject(composition: Composition, talk: Conversation): Promise<Back | undefined> {
  const subject = await talk.line('Subject of the mail (optional):', { first: composition.subject });
  if (subject === BACK) return BACK;
  composition.subject = subject.trim();
  return undefined;
}

async function askMessage(composition: Composition, talk: Conversation): Promise<Back | undefined> {
  const editor = new MessageLine();
  const line = await talk.line('Message (optional):', {
    first: editor.lineOf(composition.message ?? ''),
    onPaste: (text) => editor.lineOf(text),
    refuse: (typed) => editor.refuse(typed),
  });
  if (line === BACK) return BACK;
  composition.message = editor.textOf(line);
  return undefined;
}
