import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { systemClock } from '../../kernel/clock.ts';
import { messageOf, StorageError } from '../../kernel/errors.ts';
import { containerUrl, credentialError, missingProfileError } from './credential-error.ts';
import { runCredentialProcess } from './credential-process.ts';

type CredentialSdk = Pick<
  typeof import('./s3-sdk.ts'),
  | 'defaultProvider'
  | 'externalDataInterceptor'
  | 'fromHttp'
  | 'fromIni'
  | 'loadSsoSessionData'
  | 'parseKnownFiles'
>;
type CredentialProvider = Extract<NonNullable<S3ClientConfig['credentials']>, (...args: never[]) => unknown>;
type Caller = Parameters<CredentialProvider>[0];

const KEYS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
const NAMES = ['AWS_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION'];

/** @throws StorageError if an AWS variable contains a space or a line break that a secret store may have added. */
export function refuseBrokenVariables({ accessKeyId }: { accessKeyId?: string | undefined }): void {
  const keys = accessKeyId === undefined ? KEYS : [];
  const broken =
    keys.find((name) => /[\s\p{Cc}]|^["']/u.test(process.env[name] ?? '')) ??
    NAMES.find((name) => /^\s|\s$|\p{Cc}/u.test(process.env[name] ?? ''));
  if (broken === undefined) return;
  throw new StorageError(
    'STORAGE_CREDENTIALS',
    `${broken} contains a space, a line break, a quote, or a control character.`,
    { hint: 'Set it again without it.' },
  );
}

/** How long a failure is remembered. A command for many documents asks only once, and a listener asks again later. */
const FAILURE_MS = 60_000;

/** How the SDK asks services for credentials. */
export interface CredentialRequests {
  /** Sends the requests, if needed through a proxy. */
  handler: S3Client['config']['requestHandler'] | undefined;
  /** The host of the last request. */
  host: string | undefined;
}

/**
 * Returns the provider of AWS credentials. Every failure becomes a StorageError that names the source that was asked, the AWS profile, and
 * the source's answer.
 * @param timeoutMs how long credential_process may take
 */
export function awsCredentials(
  sdk: CredentialSdk,
  asked: CredentialRequests,
  timeoutMs: number,
): CredentialProvider {
  // The SDK runs the command of a profile with this function.
  const exec = (command: string, done: (error: Error | null, output?: { stdout: string }) => void) => {
    const onError = (error: unknown) => done(error instanceof Error ? error : new Error(messageOf(error)));
    runCredentialProcess(command, timeoutMs).then((stdout) => done(null, { stdout }), onError);
  };
  sdk.externalDataInterceptor.interceptToken('exec', exec);
  let failure: { error: StorageError; until: number } | undefined;
  return async (caller) => {
    if (failure !== undefined && systemClock.now() < failure.until) throw failure.error;
    try {
      return await ask(sdk, asked, caller);
    } catch (error) {
      const [profiles, ssoSessions] = await Promise.all([sdk.parseKnownFiles({}), sdk.loadSsoSessionData()]);
      const known = error instanceof StorageError;
      const problem = known ? error : credentialError(error, { profiles, ssoSessions }, asked.host);
      failure = { error: problem, until: systemClock.now() + FAILURE_MS };
      throw problem;
    }
  };
}

/** The settings with which a profile says where its credentials are. */
const SOURCES = [
  'aws_access_key_id',
  'credential_process',
  'credential_source',
  'login_session',
  'role_arn',
  'source_profile',
  'sso_session',
  'sso_start_url',
  'web_identity_token_file',
];

/**
 * Asks the source that is configured, and no other. The default chain would also continue after a failure, and hide its reason. It is asked
 * if nothing is configured.
 */
async function ask(sdk: CredentialSdk, { handler }: CredentialRequests, caller: Caller) {
  const { env } = process;
  const profile = env.AWS_PROFILE;
  const settings = (await sdk.parseKnownFiles({}))[profile ?? 'default'];
  if (profile !== undefined && settings === undefined) throw missingProfileError(profile);
  const init = handler === undefined ? {} : { clientConfig: { requestHandler: handler } };
  const usesKey = profile === undefined && env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY;
  if (!usesKey && SOURCES.some((name) => settings?.[name] !== undefined)) return sdk.fromIni(init)(caller);
  if (!usesKey && env.AWS_WEB_IDENTITY_TOKEN_FILE === undefined && containerUrl(env) !== undefined)
    return sdk.fromHttp()();
  return sdk.defaultProvider(init)(caller);
}
