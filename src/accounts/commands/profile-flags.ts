import type { InferredFlags } from '@oclif/core/interfaces';
import { booleanFlag, inGroup, numberFlag, textFlag } from '../../cli/flags.ts';
import { readSecret } from '../../cli/input/secrets.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { UsageError } from '../../kernel/errors.ts';
import { usableKey } from '../../kernel/text/api-key.ts';
import type { GuardChanges, ProfileChanges } from '../../settings/profile-changes.ts';

const guardFlags = inGroup('GUARD', {
  'read-only': booleanFlag('refuse all commands that change data', { allowNo: true }),
  'only-to': textFlag('A,B', "allow only these recipients: addresses, or '*@example.com' for a domain", {
    exclusive: ['no-only-to'],
  }),
  'max-emails': numberFlag('maximum number of emails that a command may send', {
    min: 0,
    exclusive: ['no-max-emails'],
  }),
  'confirm-name': booleanFlag("require the profile's name before a command emails more than one person", {
    allowNo: true,
  }),
});

/** The flags of `profiles add` and `profiles edit`. Secrets are never passed as the value of a flag. */
export const profileFlags = {
  'base-url': textFlag('URL', 'base URL of the API, such as https://api.example.com/api/v1'),
  ...inGroup('KEY', {
    'api-key-file': textFlag('FILE', 'read the API key from a file, or with - from stdin or a prompt'),
    'api-key-command': textFlag('CMD', 'command that prints the API key, run each time the key is needed', {
      exclusive: ['api-key-file'],
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
    'secret-access-key-file': textFlag(
      'FILE',
      'read the secret access key from a file, or with - from stdin or a prompt',
    ),
  }),
};

/** The flags of `profiles edit` only. They remove guards, or are about the pin, which the first download sets. */
export const editFlags = {
  ...inGroup('GUARD', {
    'no-only-to': booleanFlag('allow all recipients'),
    'no-max-emails': booleanFlag('allow any number of emails'),
  }),
  ...inGroup('SEAL', {
    pin: textFlag('FINGERPRINT', 'trust only documents sealed by this certificate', {
      exclusive: ['no-pin'],
    }),
    'no-pin': booleanFlag('forget the certificate; the next download pins it again'),
    'sealed-part': booleanFlag(
      'save the sealed part of documents that were extended after they were sealed',
      {
        allowNo: true,
      },
    ),
  }),
};

export type ProfileFlagValues = Partial<InferredFlags<typeof profileFlags & typeof editFlags>>;

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
    pin: flags['no-pin'] ? null : flags.pin,
    sealedPart: flags['sealed-part'],
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

async function readGuards(flags: ProfileFlagValues): Promise<GuardChanges> {
  const { 'only-to': onlyTo, 'max-emails': maxEmails } = flags;
  return {
    readOnly: flags['read-only'],
    onlyTo: flags['no-only-to'] ? null : onlyTo === undefined ? undefined : await readPatterns(onlyTo),
    maxEmails: flags['no-max-emails'] ? null : maxEmails,
    confirmName: flags['confirm-name'],
  };
}

async function readPatterns(text: string): Promise<string[]> {
  const patterns = text.split(',').map((one) => one.trim());
  const { comparablePattern } = await import('../../settings/guards/addresses.ts');
  const invalid = patterns.find((one) => comparablePattern(one) === undefined);
  if (invalid === undefined) return patterns;
  throw new UsageError(
    `Invalid value for --only-to: "${invalid}". It must be an email address or a pattern.`,
    {
      hint: "Examples: ann@example.com, or '*@example.com' for a domain. To allow all recipients, use --no-only-to.",
    },
  );
}

async function readKey(
  flags: ProfileFlagValues,
  needsKey: boolean,
  terminal: CommandTerminal,
): Promise<string | undefined> {
  if (flags['api-key-command'] !== undefined) return undefined;
  const file = flags['api-key-file'];
  if (file === undefined && !needsKey) return undefined;
  const fromEnvironment = process.env.ESIGN_API_KEY?.trim();
  if (file === undefined && fromEnvironment) {
    terminal.redactor.add(fromEnvironment);
    return usableKey(fromEnvironment, 'ESIGN_API_KEY');
  }
  const hint = 'Pass --api-key-file FILE, pipe it in with --api-key-file -, or pass --api-key-command.';
  return usableKey(await readSecret({ what: 'API key', file, hint }, terminal), 'The API key');
}

async function readStorageSecret(
  flags: ProfileFlagValues,
  terminal: CommandTerminal,
): Promise<string | undefined> {
  const file = flags['secret-access-key-file'];
  if (file === undefined && !flags['access-key-id']) return undefined;
  if (file === '-' && flags['api-key-file'] === '-')
    throw new UsageError('Both the API key and the secret access key would be read from stdin.', {
      hint: 'Read one of them from a file.',
    });
  return readSecret(
    {
      what: 'secret access key',
      file,
      hint: 'Pass --secret-access-key-file FILE, or - for stdin.',
    },
    terminal,
  );
}
