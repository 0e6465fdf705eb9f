import { type EsignError, ServiceError, type Subject } from '../kernel/errors.ts';
import { ownValue } from '../kernel/json.ts';
import { isNotFound } from '../kernel/request-failures.ts';
import { command, wordsForHint } from '../kernel/text/shell-words.ts';
import type { RunAccount } from './session/account.ts';

const HINTS: Readonly<Record<string, string>> = {
  FORBIDDEN:
    'The key may lack a scope (creating, sending, canceling, and reminding need esign:write), or the organization may lack a bucket or a plan with API access.',
  QUOTA_EXCEEDED:
    'The organization has reached its monthly envelope limit, which resets at the start of the next month.',
  NETWORK: 'To find the cause, run `esign doctor`.',
  VALIDATION_ERROR: 'Fix these values and run the command again. To see the request, add --debug.',
  RATE_LIMITED: 'Wait for the rate limit to reset, or send fewer requests.',
};

/** Returns what usually helps after an error without a hint. `account`: the account of the run. */
export function hintFor(error: EsignError, account: RunAccount): string | undefined {
  if (error.code === 'UNAUTHORIZED') return refusedKeyHint(account);
  if (isNotFound(error)) return notFoundHint(error.subject);
  if (error instanceof ServiceError && error.code === 'INVALID_STATE' && error.subject)
    return `Check its status: \`${command('envelopes', 'get', error.subject.id)}\`.`;
  const known = ownValue(HINTS, error.code);
  if (known !== undefined || !(error instanceof ServiceError)) return known;
  return error.status >= 500
    ? 'The service reported an error. Try again later, or check the service with `esign doctor`.'
    : 'Run the command again with --debug to see the request and the response.';
}

/** Says whose key was refused, and how to replace it. */
function refusedKeyHint({ settings }: RunAccount): string {
  const why = 'is wrong, revoked, or expired';
  const name = settings?.profileName?.value;
  if (settings?.apiKey?.source === 'environment') return `The key in ESIGN_API_KEY ${why}.`;
  if (name === undefined) return `The key ${why}. To see which key is used, run \`esign profiles show\`.`;
  if (settings?.apiKey?.kind === 'command')
    return `The key from the command of profile ${name} ${why}. To see the command, run \`${command('profiles', 'show', name)}\`.`;
  return `The key of profile ${name} ${why}. To replace it, run \`${command('profiles', 'edit', name, '--api-key-file', '-')}\`.`;
}

function notFoundHint(subject: Subject | undefined): string {
  const others = 'A key can access only its own organization; `esign profiles show` shows the key in use.';
  if (subject === undefined) return `Check the ID. ${others}`;
  const { kind, id } = subject;
  const suggestions = wordsForHint(subject.suggestions ?? []);
  const search =
    kind === 'envelope' && !id.includes('`') ? `To search, run \`${command('find', id)}\`.` : 'Check the ID.';
  const guess = suggestions.length === 0 ? search : `Did you mean ${suggestions.join(' or ')}?`;
  return `${guess} \`${command(`${kind}s`, 'list')}\` lists ${kind === 'envelope' ? 'the latest envelopes' : 'the templates'}. ${others}`;
}
