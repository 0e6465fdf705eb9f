import type { InferredFlags } from '@oclif/core/interfaces';
import { booleanFlag, inGroup, numberFlag, textFlag } from '../../cli/flags.ts';
import { readSecret } from '../../cli/input/secrets.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { GuardChanges, ProfileChanges } from '../../profiles/edit.ts';

const guardFlags = inGroup('GUARD', {
  'read-only': booleanFlag('refuse all commands that change data', { allowNo: true }),
  'only-to': textFlag(
    'A,B',
    "allow only these recipients: addresses, '*@example.com', '*@*.example.com'; '' allows nobody",
    { exclusive: ['no-only-to'] },
  ),
  'no-only-to': booleanFlag('allow all recipients'),
  'max-emails': numberFlag('maximum number of emails that a command may send', {
    min: 0,
    exclusive: ['no-max-emails'],
  }),
  'no-max-emails': booleanFlag('allow any number of emails'),
  'confirm-name': booleanFlag("require the profile's name before a command emails more than one person", {
    allowNo: true,
  }),
});

/** The flags of `profiles add` and `profiles edit`. Secrets are never passed as the value of a flag. */
export const profileFlags = {
  ...inGroup('KEY', {
    'api-key-stdin': booleanFlag('read the API key from stdin', {
      exclusive: ['api-key-command', 'api-key-file'],
    }),
    'api-key-file': textFlag('FILE', 'read the API key from a file'),
    'api-key-command': textFlag('CMD', 'command that prints the API key, run each time the key is needed', {
      exclusive: ['api-key-file'],
    }),
    keychain: booleanFlag('store the API key in the system keychain instead of the profiles file', {
      allowNo: true,
      exclusive: ['api-key-command'],
    }),
  }),
  'insecure-http': booleanFlag('allow an http:// base URL on another machine'),
  index: booleanFlag('keep a local index of envelopes, for `find` (default)', { allowNo: true }),
  ...guardFlags,
  ...inGroup('STORAGE', {
    bucket: textFlag('NAME', 'bucket that contains the signed documents'),
    region: textFlag('NAME', 'bucket region'),
    endpoint: textFlag('URL', 'URL of an S3-compatible service other than AWS'),
    'path-style': booleanFlag('put the bucket in the path, not the host name (default with --endpoint)', {
      allowNo: true,
    }),
    'aws-profile': textFlag('NAME', 'AWS profile with the credentials and endpoint'),
    'access-key-id': textFlag(
      'ID',
      'access key ID, instead of the AWS default chain; you are prompted for the secret',
    ),
    'secret-access-key-stdin': booleanFlag('read the secret access key from stdin', {
      exclusive: ['api-key-stdin'],
    }),
    'secret-access-key-file': textFlag('FILE', 'read the secret access key from a file'),
  }),
};

type GuardFlagValues = Partial<InferredFlags<typeof guardFlags>>;
export type ProfileFlagValues = Partial<InferredFlags<typeof profileFlags>> & {
  'base-url'?: string | undefined;
};

/** Reads the changes from flags, files, stdin, and prompts. A new profile needs a key. */
export async function readProfileChanges(
  flags: ProfileFlagValues,
  isNew: boolean,
  terminal: CommandTerminal,
): Promise<ProfileChanges> {
  return {
    baseUrl: flags['base-url'],
    insecureHttp: flags['insecure-http'],
    index: flags.index,
    guards: await readGuards(flags),
    apiKeyCommand: flags['api-key-command'],
    apiKey: await readKey(flags, isNew, terminal),
    bucket: flags.bucket,
    region: flags.region,
    endpoint: flags.endpoint,
    pathStyle: flags['path-style'],
    awsProfile: flags['aws-profile'],
    accessKeyId: flags['access-key-id'],
    secretAccessKey: await readStorageSecret(flags, terminal),
  };
}

async function readGuards(flags: GuardFlagValues): Promise<GuardChanges> {
  const { 'only-to': onlyTo, 'max-emails': maxEmails } = flags;
  return {
    readOnly: flags['read-only'],
    onlyTo: flags['no-only-to'] ? null : onlyTo === undefined ? undefined : await readPatterns(onlyTo),
    maxEmails: flags['no-max-emails'] ? null : maxEmails,
    confirmName: flags['confirm-name'],
  };
}

async function readPatterns(text: string): Promise<string[]> {
  const patterns = text.trim() === '' ? [] : text.split(',').map((one) => one.trim());
  const { comparablePattern } = await import('../../guards/addresses.ts');
  const invalid = patterns.find((one) => comparablePattern(one) === undefined);
  if (invalid === undefined) return patterns;
  throw new UsageError(
    `Invalid value for --only-to: "${invalid}". It must be an email address or a pattern.`,
    {
      hint: "Examples: ann@example.com, '*@example.com' for a domain, '*@*.example.com' for its subdomains.",
    },
  );
}

async function readKey(
  flags: ProfileFlagValues,
  needsKey: boolean,
  terminal: CommandTerminal,
): Promise<string | undefined> {
  if (flags['api-key-command'] !== undefined) return undefined;
  const given = flags['api-key-stdin'] === true || flags['api-key-file'] !== undefined;
  if (!given && !needsKey) return undefined;
  const fromEnvironment = process.env.ESIGN_API_KEY?.trim();
  if (!given && fromEnvironment) {
    terminal.redactor.add(fromEnvironment);
    return fromEnvironment;
  }
  return readSecret(
    {
      what: 'API key',
      fromStdin: flags['api-key-stdin'],
      file: flags['api-key-file'],
      hint: 'Pipe it in with --api-key-stdin, or pass --api-key-file or --api-key-command.',
    },
    terminal,
  );
}

async function readStorageSecret(
  flags: ProfileFlagValues,
  terminal: CommandTerminal,
): Promise<string | undefined> {
  const given = flags['secret-access-key-stdin'] === true || flags['secret-access-key-file'] !== undefined;
  const needsSecret = given || Boolean(flags['access-key-id']);
  if (!needsSecret) return undefined;
  return readSecret(
    {
      what: 'secret access key',
      fromStdin: flags['secret-access-key-stdin'],
      file: flags['secret-access-key-file'],
      hint: 'Pass --secret-access-key-file FILE or --secret-access-key-stdin.',
    },
    terminal,
  );
}
