import type { Template } from '../../../api/resource-types.ts';
import { askChoice, askFromList, askText } from '../../../cli/input/prompts.ts';
import { type AskedChoice, problemFoundBy } from '../../../cli/input/question.ts';
import { counted } from '../../../kernel/duration.ts';
import { LIMITS } from '../../../kernel/vocabulary.ts';
import type { EnvelopeInput, SignerInput } from '../../../once/create-body.ts';
import { padded, safeLine, truncate, widthOf } from '../../../output/text.ts';
import { parseSigner, signerText } from '../../signer-mailbox.ts';
import { numberTurns } from '../../signer-suggestions.ts';

export function askTemplate(templates: readonly Template[]): Promise<Template> {
  const width = Math.min(40, Math.max(...templates.map((one) => widthOf(nameOf(one)))));
  const choices = templates.map((template) => templateChoice(template, width));
  return askFromList(
    'Template:',
    (typed) => choices.filter(({ value }) => matches([value.name, value.id, value.description], typed)),
    'No templates match. Type part of a name, ID, or description.',
  );
}

function nameOf(template: Template): string {
  return safeLine(template.name || template.id);
}

function templateChoice(template: Template, width: number): AskedChoice<Template> {
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

/** The answer that names the suggested signer. */
const SUGGESTED = '=';

/** Asks for one signer per role. Without roles, asks for signers until there are no more. */
export async function askSigners(
  roles: readonly string[],
  last: ReadonlyMap<string, SignerInput>,
): Promise<SignerInput[]> {
  const signers: SignerInput[] = [];
  for (const role of roles.slice(0, LIMITS.signers)) {
    const signer = await askSigner(safeLine(role), last.get(role));
    if (signer !== undefined) signers.push({ role, ...signer });
  }
  if (signers.length > 0) return signers;
  while (signers.length < LIMITS.signers) {
    const isFirst = signers.length === 0;
    const signer = await askSigner(isFirst ? 'Signer' : 'Another signer (optional)', undefined, !isFirst);
    if (signer === undefined) break;
    signers.push(signer);
  }
  return signers;
}

/**
 * Returns undefined for no answer, which is accepted only if the question is optional. The signer who had the role last is suggested, but
 * is never the default: Enter alone would send one person's document to another.
 */
async function askSigner(
  message: string,
  last: SignerInput | undefined,
  isOptional = false,
): Promise<SignerInput | undefined> {
  // The role is in the question.
  const suggestion = last && safeLine(signerText({ email: last.email, name: last.name }));
  const isSuggested = (answer: string) => last !== undefined && answer.trim() === SUGGESTED;
  const problemOf = (answer: string) => {
    const isAccepted = isSuggested(answer) || (isOptional && answer.trim() === '');
    return isAccepted ? undefined : mailboxProblem(answer);
  };
  const question = suggestion === undefined ? `${message}:` : `${message} (${SUGGESTED} for ${suggestion}):`;
  const answer = await askText(question, { problemOf });
  if (isSuggested(answer)) return last;
  return answer.trim() === '' ? undefined : parseSigner(answer).signer;
}

function mailboxProblem(answer: string): string | undefined {
  const problem = problemFoundBy(() => parseSigner(answer));
  return problem === undefined || answer.includes('@')
    ? problem && safeLine(problem)
    : 'Type an address: ada@example.com, or Ada Lovelace <ada@example.com>';
}

/** Asks who signs first, or whether everyone signs at the same time. */
export async function askOrder(
  signers: readonly SignerInput[],
): Promise<Pick<EnvelopeInput, 'signers' | 'signingOrder'>> {
  const turns = signers.map((first): AskedChoice<SignerInput | undefined> => {
    const others = signers.filter((one) => one !== first).map(({ name }) => safeLine(name));
    return { value: first, name: oneLine([safeLine(first.name), ...others].join(', then ')) };
  });
  const first = await askChoice('Who signs first?', [
    { value: undefined, name: 'Everyone at the same time' },
    ...turns,
  ]);
  if (first === undefined) return { signers: [...signers], signingOrder: 'PARALLEL' };
  return { signers: numberTurns(signers, first), signingOrder: 'SEQUENTIAL' };
}

export async function askSubject(): Promise<string | undefined> {
  return (await askText('Email subject (optional):')).trim() || undefined;
}
