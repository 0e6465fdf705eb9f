import type { Environment } from '../../kernel/environment.ts';
import { codeOf, messageOf, StorageError } from '../../kernel/errors.ts';
import { diskReason, isDiskError } from '../../kernel/files/disk-reason.ts';
import { unknownIssuerHint } from '../../kernel/network/trust.ts';
import { connectionReason, UNKNOWN_ISSUER } from '../../kernel/network/unreachable.ts';
import { command, shellWord } from '../../kernel/text/shell-words.ts';

/** A section of the files in ~/.aws. */
type Section = Readonly<Record<string, string | undefined>>;

interface AwsFiles {
  profiles: Readonly<Record<string, Section>>;
  ssoSessions: Readonly<Record<string, Section>>;
}

/** Why there are no credentials, and the fix. */
interface Problem {
  why: string;
  hint: string;
}

/** Which source was asked for credentials, and by which AWS profile. */
class Asked {
  /** The selected profile. */
  readonly profile: string | undefined;
  /** The host of the last request to a service. */
  readonly host: string | undefined;

  constructor(host: string | undefined) {
    this.profile = process.env.AWS_PROFILE;
    this.host = host;
  }

  get subject(): string {
    return this.profile === undefined ? 'the default AWS profile' : `the AWS profile ${this.profile}`;
  }

  get forProfile(): string {
    return this.profile === undefined ? '' : ` for ${this.subject}`;
  }

  /** The flag that selects the profile in the AWS CLI. */
  get flag(): string {
    return this.profile === undefined ? '' : ` --profile ${shellWord(this.profile)}`;
  }

  /** The source, or undefined if none was asked. */
  get source(): string | undefined {
    const service = /\bsso\b|^oidc\./.test(this.host ?? '') ? 'AWS SSO' : 'AWS STS';
    if (this.host !== undefined) return `${service} (${this.host})`;
    const url = containerUrl(process.env);
    return url && `the container's endpoint ${url}`;
  }
}

/** Returns the URL where a container gets its credentials, if the environment names one. */
export function containerUrl(env: Environment): string | undefined {
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  return relative ? `http://169.254.170.2${relative}` : env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
}

function failed({ why, hint }: Problem, cause?: unknown): StorageError {
  return new StorageError('STORAGE_CREDENTIALS', `Can't get AWS credentials: ${why}.`, { hint, cause });
}

const LIST_PROFILES = 'List the profiles with `aws configure list-profiles`.';

/** Returns the error for a profile that is in none of the files. */
export function missingProfileError(profile: string): StorageError {
  const hint = `${LIST_PROFILES} AWS_PROFILE or --aws-profile selects one.`;
  return failed({ why: `the AWS profile ${profile} does not exist`, hint });
}

/**
 * Returns which source of credentials failed, for which AWS profile, and what it answered.
 * @param host the host of the last request for credentials
 */
export function credentialError(error: unknown, files: AwsFiles, host: string | undefined): StorageError {
  const asked = new Asked(host);
  const problem =
    misconfigured(asked.profile ?? 'default', files) ??
    refused(error, asked) ??
    processFailed(error, asked) ??
    signedOut(error, asked, files) ??
    unreadable(error, asked) ??
    unanswered(error, asked);
  return failed(problem, error);
}

/** Returns a problem of the files in ~/.aws: a profile or an SSO session that is missing, or a circle of profiles. */
function misconfigured(used: string, { profiles, ssoSessions }: AwsFiles): Problem | undefined {
  const seen = [used];
  for (let name = used; ; ) {
    const { sso_session: session, source_profile: next } = profiles[name] ?? {};
    if (session !== undefined && ssoSessions[session] === undefined) return missingSession(name, session);
    if (next === undefined || next === name) return undefined;
    if (profiles[next] === undefined) {
      const why = `the AWS profile ${name} names the source_profile ${next}, which does not exist`;
      return { why, hint: LIST_PROFILES };
    }
    if (seen.includes(next)) {
      const why = `the AWS profiles ${[...seen, next].join(' → ')} name each other as source_profile`;
      return { why, hint: 'Change source_profile in ~/.aws/config to a profile with its own credentials.' };
    }
    seen.push(next);
    name = next;
  }
}

function missingSession(profile: string, session: string): Problem {
  const why = `the AWS profile ${profile} names the sso_session ${session}, which is not in ~/.aws/config`;
  return { why, hint: 'Add it with `aws configure sso-session`.' };
}

/** Returns the answer of a service that refused the request. */
function refused(error: unknown, asked: Asked): Problem | undefined {
  const said = shortened(messageOf(error));
  const quoted = /^Server responded with (status: \d+)$|^(\w+Exception: .*)$/.exec(said);
  const answer = quoted?.[1] ?? quoted?.[2] ?? (isServiceError(error) ? `${error.name}: ${said}` : undefined);
  if (answer === undefined) return undefined;
  return {
    why: `${asked.source ?? 'the service'} refused the request${asked.forProfile} (${answer})`,
    hint: testOf(asked),
  };
}

/** Returns true for an error that a service of AWS returned. */
function isServiceError(error: unknown): error is Error {
  return error instanceof Error && '$fault' in error && error.name !== 'CredentialsProviderError';
}

function processFailed(error: unknown, asked: Asked): Problem | undefined {
  const reason = /credential_process .*/s.exec(messageOf(error))?.[0];
  if (reason === undefined) return undefined;
  return {
    why: `${reason.replace(/\.$/, '')}${asked.forProfile}`,
    hint: 'To see the reason, run the command of credential_process in ~/.aws/config.',
  };
}

/** Returns the problem that the user must sign in, or enter a code, which only the AWS CLI asks for. */
function signedOut(error: unknown, asked: Asked, { profiles }: AwsFiles): Problem | undefined {
  const message = messageOf(error);
  if (/multi-factor|MFA/i.test(message))
    return {
      why: `${asked.subject} needs an MFA code, for which esign can't ask`,
      hint: `Run \`eval "$(aws configure export-credentials --format env${asked.flag})"\`, which asks for it, and unset AWS_PROFILE.`,
    };
  const isLogin = profiles[asked.profile ?? 'default']?.login_session !== undefined;
  if (asked.host !== undefined || !(isLogin || /expired|aws sso login|refresh/i.test(message)))
    return undefined;
  return {
    why: `${asked.subject} is not signed in, or its session has expired`,
    hint: `Sign in with \`aws ${isLogin ? '' : 'sso '}login${asked.flag}\`.`,
  };
}

function unreadable(error: unknown, asked: Asked): Problem | undefined {
  if (!isDiskError(error) || !('path' in error)) return undefined;
  return {
    why: `can't read ${String(error.path)}${asked.forProfile} (${diskReason(error)})`,
    hint: 'Check web_identity_token_file or AWS_WEB_IDENTITY_TOKEN_FILE.',
  };
}

/** Returns why a source did not answer with credentials, or that no source was found. */
function unanswered(error: unknown, asked: Asked): Problem {
  const said = shortened(messageOf(error));
  const { source, forProfile } = asked;
  if (source === undefined)
    return asked.profile === undefined
      ? {
          why: 'none were found',
          hint: `Set AWS_PROFILE, or \`${command('profiles', 'edit', 'NAME', '--access-key-id', 'ID')}\`.`,
        }
      : {
          why: `${asked.subject} has none (${said})`,
          hint: 'Check the profile in ~/.aws/config, or run `aws sso login`.',
        };
  if (/\bJSON\b|required format|Unexpected token|Invalid response/.test(said))
    return { why: `the response of ${source}${forProfile} contains none`, hint: testOf(asked) };
  const code = codeOf(error) ?? /\b(E[A-Z]{4,})\b/.exec(said)?.[1];
  return {
    why: `no response from ${source}${forProfile} (${code === undefined ? said : connectionReason(code)})`,
    hint: UNKNOWN_ISSUER.has(code ?? '') ? unknownIssuerHint() : testOf(asked),
  };
}

/** Returns how to ask the same source without esign. */
function testOf({ host, flag }: Asked): string {
  return host === undefined
    ? 'Check AWS_CONTAINER_CREDENTIALS_FULL_URI or AWS_CONTAINER_CREDENTIALS_RELATIVE_URI.'
    : `To ask it without esign, run \`aws sts get-caller-identity${flag}\`.`;
}

const MAX_ANSWER = 300;

function shortened(message: string): string {
  return message.replaceAll(/\s+/g, ' ').replace(/\.$/, '').slice(0, MAX_ANSWER);
}
