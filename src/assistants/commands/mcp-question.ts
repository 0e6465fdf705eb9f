import { questionAbout } from '../../cli/input/confirm.ts';
import type { Context } from '../../cli/session/context.ts';
import { grouped } from '../../kernel/duration.ts';
import { safeLine, truncate } from '../../output/text.ts';

/** What the client asks its user before a call is carried out. `state` identifies the call when the client repeats it with the answer. */
export class UserQuestion {
  readonly text: string;
  readonly state: string;

  constructor(text: string, state: string) {
    this.text = text;
    this.state = state;
  }
}

/** The facts that the user confirms. */
export interface QuestionFacts {
  /** Such as `Send 1 envelope to 2 people`. */
  what: string;
  /** Undefined for a new envelope. */
  envelopeId?: string | undefined;
  subject: string | null | undefined;
  /** The text in the email to the signers, if the call contains one. */
  message?: string | null | undefined;
  people: readonly AskedPerson[];
}

interface AskedPerson {
  name?: string | null | undefined;
  email?: string | null | undefined;
  role?: string | null | undefined;
}

/** The most signers to name. */
const MAX_PEOPLE = 50;
/** The width to which each text is cut, in columns. The longest address has 254 characters. */
const MAX_WIDTH = 300;
const MAX_MESSAGE_WIDTH = 1_000;

/**
 * Returns the question with the account, the subject, each person, and the warnings, one a line. The texts of others can't add lines or
 * hide any.
 */
export async function questionText(
  { what, envelopeId, subject, message, people }: QuestionFacts,
  warnings: readonly string[],
  context: Context,
): Promise<string> {
  const { redactor } = context.terminal;
  const shown = (text: string, width = MAX_WIDTH) => truncate(safeLine(redactor.redact(text)), width);
  const more = people.length - MAX_PEOPLE;
  const lines = [
    shown(await questionAbout(what, context)),
    '',
    ...(envelopeId === undefined ? [] : [`Envelope: ${shown(envelopeId)}`]),
    `Subject: ${shown(subject || '(none)')}`,
    ...(message ? [`Message: ${shown(message, MAX_MESSAGE_WIDTH)}`] : []),
    'People:',
    ...people.slice(0, MAX_PEOPLE).map((person) => `- ${shown(personText(person))}`),
    ...(more > 0 ? [`- and ${grouped(more)} more`] : []),
    ...warnings.map((text) => `Note: ${shown(text)}`),
  ];
  return lines.join('\n');
}

/** Begins with the address, which decides who is emailed. An assistant chooses the name, which may look like another address. */
function personText({ name, email, role }: AskedPerson): string {
  const more = [name === email ? undefined : name, role].filter(Boolean);
  return [email || '(no address)', ...more].join(', ');
}
