import { messageOf, StorageError, type StorageErrorCode } from '../../kernel/errors.ts';

/** Why the bucket can't be read, and the fix. */
export interface BucketProblem {
  code: StorageErrorCode;
  why: string;
  hint: string;
}

export const EXPIRED: BucketProblem = {
  code: 'STORAGE_CREDENTIALS',
  why: 'the credentials have expired',
  hint: 'Get new ones, for example with `aws sso login`.',
};

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

/**
 * Returns why the AWS profile in use has no credentials. The default chain hides the reason, so its provider is asked directly.
 * Undefined for another error, or without a profile.
 */
export async function reasonOfProvider(
  { fromIni }: Pick<typeof import('./s3-sdk.ts'), 'fromIni'>,
  error: unknown,
): Promise<string | undefined> {
  const profile = process.env.AWS_PROFILE;
  if (!profile || !(error instanceof Error) || error.name !== 'CredentialsProviderError') return undefined;
  return fromIni({ profile })().then(() => undefined, messageOf);
}

const LONGEST_OUTPUT = 200;

/** Returns the cause of missing credentials by the message of their provider. */
export function missingCredentialsCause(message: string): BucketProblem {
  const profile = process.env.AWS_PROFILE;
  const code = 'STORAGE_CREDENTIALS';
  if (!profile && !/expired|aws sso login|refresh/i.test(message))
    return {
      code,
      why: 'no credentials were found',
      hint: 'Set AWS_PROFILE, or `esign profiles edit NAME --access-key-id ID`.',
    };
  const hint = 'To see the reason, run the command of credential_process in ~/.aws/config.';
  // The command itself may contain a secret.
  const [, output] = /^Command failed: [^\n]*\n(.*)$/s.exec(message) ?? [];
  if (output !== undefined) {
    const said = output.trim().replaceAll(/\s+/g, ' ').slice(0, LONGEST_OUTPUT);
    const why = `credential_process of the AWS profile ${profile ?? ''} failed`;
    return { code, why: said === '' ? why : `${why} (${said})`, hint };
  }
  const process_ = /credential_process .*(?=\.$)/.exec(message)?.[0];
  if (process_ !== undefined) return { code, why: `${process_} for the AWS profile ${profile ?? ''}`, hint };
  if (/expired|aws sso login|refresh/i.test(message)) return EXPIRED;
  return {
    code,
    why: `the AWS profile ${profile ?? ''} has no credentials`,
    hint: 'Check that the profile exists in ~/.aws: `aws configure list-profiles`. Or run `aws sso login`.',
  };
}
