import { normalizeBaseUrl } from '../../api/base-url.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { EsignError, UsageError } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { Profiles } from '../../settings/profile.ts';
import { checkNewName } from '../../settings/profile-changes.ts';

interface NewAccount {
  name: string;
  baseUrl: string;
}

type GivenAccount = { [K in keyof NewAccount]: string | undefined } & { insecureHttp: boolean | undefined };

const EXAMPLE_URL = 'https://api.example.com/api/v1';

/**
 * Returns the name and the base URL of a new profile. On a terminal, asks for what is missing.
 * @throws UsageError if something is missing and can't be asked for.
 */
export async function askForAccount(
  { name, baseUrl, insecureHttp }: GivenAccount,
  store: Profiles,
  { canAsk }: Pick<CommandTerminal, 'canAsk'>,
): Promise<NewAccount> {
  const isKnown = name !== undefined && baseUrl !== undefined;
  if (!isKnown && !canAsk) {
    const missing = name === undefined ? 'argument NAME: a name for the profile' : 'flag --base-url';
    throw new UsageError(`Missing ${missing}.`, {
      hint: `Example: ${command('profiles', 'add', name ?? 'acme', '--base-url', EXAMPLE_URL)}`,
    });
  }
  if (isKnown) return { name, baseUrl };
  const { askText } = await import('../../cli/input/prompts.ts');
  const ask = async (question: string, check: (answer: string) => unknown) =>
    (await askText(question, { problemOf: (answer) => problemOf(() => check(answer.trim())) })).trim();
  return {
    name:
      name ?? (await ask('Name for this account, such as acme:', (answer) => checkNewName(store, answer))),
    baseUrl:
      baseUrl ??
      (await ask(`Base URL, such as ${EXAMPLE_URL}:`, (answer) =>
        normalizeBaseUrl(answer, { insecureHttp }),
      )),
  };
}

/** Returns the message of the error that a check throws; undefined if it throws none. */
function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof EsignError)) throw error;
    return [error.message, error.hint].filter((text) => text !== undefined).join(' ');
  }
}
