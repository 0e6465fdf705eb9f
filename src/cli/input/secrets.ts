import { UsageError } from '../../kernel/errors.ts';
import type { CommandTerminal } from '../terminal.ts';
import { readText } from './files.ts';

/** The possible sources of a secret. The value of a flag isn't one, because process lists show it. */
export interface SecretSources {
  /** The name of the secret in questions and errors. */
  what: string;
  /** A file, or `-` for stdin. */
  file?: string | undefined;
  /** The hint if the user can't be prompted. */
  hint: string;
}

/**
 * Reads a secret from stdin, a file, or a hidden prompt, and adds it to the redactor.
 * @throws UsageError if the secret is missing or not a single word.
 */
export async function readSecret(sources: SecretSources, terminal: CommandTerminal): Promise<string> {
  const secret = (await find(sources, terminal)).trim();
  terminal.redactor.add(secret);
  if (secret === '') throw new UsageError(`The ${sources.what} is empty.`, { hint: sources.hint });
  if (/[\s\p{Cc}]/u.test(secret))
    throw new UsageError(`The ${sources.what} must not contain spaces or line breaks.`, {
      hint: sources.hint,
    });
  return secret;
}

async function find(sources: SecretSources, terminal: CommandTerminal): Promise<string> {
  const { file, what } = sources;
  if (file !== undefined) return readSecretFile(file, what, terminal);
  if (terminal.canAsk) return promptForSecret(what);
  throw new UsageError(`Missing ${what}: no terminal is available to prompt for it.`, {
    hint: sources.hint,
  });
}

async function promptForSecret(what: string): Promise<string> {
  const { askSecret } = await import('./prompts.ts');
  return askSecret(`${what}:`);
}

/** Returns the text of a secret file without the final line break. `-` is stdin or, on a terminal, a hidden prompt. */
async function readSecretFile(path: string, what: string, terminal: CommandTerminal): Promise<string> {
  if (path === '-' && terminal.canAsk) return promptForSecret(what);
  return (await readText(path, `${what} file`)).replace(/\r?\n$/, '');
}

/**
 * Returns the webhook secret from the file or, without one, from ESIGN_WEBHOOK_SECRET. Undefined if neither is set.
 * @throws UsageError if the secret is empty, because anyone can sign with an empty one.
 */
export async function readWebhookSecret(
  file: string | undefined,
  terminal: CommandTerminal,
): Promise<string | undefined> {
  const secret =
    file === undefined
      ? process.env.ESIGN_WEBHOOK_SECRET || undefined
      : await readSecretFile(file, 'webhook secret', terminal);
  if (secret?.trim() === '')
    throw new UsageError('The webhook secret is empty.', {
      hint: 'Generate one: `openssl rand -hex 32 > FILE`.',
    });
  terminal.redactor.add(secret);
  return secret;
}

/** Works like readWebhookSecret. @throws UsageError if no secret is set. */
export async function requireWebhookSecret(
  file: string | undefined,
  terminal: CommandTerminal,
): Promise<string> {
  const secret = await readWebhookSecret(file, terminal);
  if (secret !== undefined) return secret;
  throw new UsageError('No webhook secret is set.', {
    hint: 'Use --secret-file FILE, or set ESIGN_WEBHOOK_SECRET.',
  });
}
