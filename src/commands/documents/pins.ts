import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, fieldsFlag, formatFlags, quietFlag, textFlag } from '../../cli/flags.ts';
import type { Session } from '../../cli/session.ts';
import { acceptPin, forgetPins, type Pin, readPins } from '../../documents/seal/pins.ts';
import { UsageError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { type ListView, writeList } from '../../output/list.ts';
import { requireOrigin, wholeFingerprint } from './signers.ts';

export default class DocumentsPins extends EsignCommand {
  static override summary = 'Manage trusted seal certificates: list, accept, or remove pins.';
  static override description =
    'The first download of both the signed document and the certificate for a completed envelope pins the certificate that sealed them, for this profile and base URL. From then on, documents with another seal, or without one, fail. Accept a new certificate only after the service has confirmed it.';
  static override examples = [
    '<%= config.bin %> documents pins',
    '<%= config.bin %> documents pins --accept 3f7a…',
    '<%= config.bin %> documents pins --forget 3f7a',
  ];
  static override flags = {
    accept: textFlag('FINGERPRINT', 'trust this certificate as well', { exclusive: ['forget'] }),
    forget: textFlag('FINGERPRINT', 'stop trusting this certificate'),
    'dry-run': booleanFlag('show what would change, without changing it'),
    ...formatFlags,
    fields: fieldsFlag('fingerprint,subject'),
    quiet: quietFlag('fingerprints'),
  };

  async run(): Promise<void> {
    const { flags, session, terminal } = await this.start(DocumentsPins);
    const pins = await changed(flags, session, { isDryRun: flags['dry-run'] });
    await writeList(pins, pinList, { ...flags, json: terminal.json }, terminal);
  }
}

const pinList: ListView<Pin> = {
  columns: [
    { key: 'fingerprint', value: ({ fingerprint }) => fingerprint },
    { key: 'subject', header: 'SEALED BY', value: ({ subject }) => subject },
    { key: 'profile', value: ({ profile }) => profile },
    { key: 'baseUrl', header: 'BASE URL', value: ({ baseUrl }) => baseUrl },
    { key: 'since', value: ({ since }) => since },
  ],
  id: ({ fingerprint }) => fingerprint,
  empty:
    'No seals are pinned yet. The seal is pinned the first time you download a signed document together with its certificate.',
};

/** Returns the pins after accepting or forgetting one, if requested. */
async function changed(
  { accept, forget }: { accept?: string | undefined; forget?: string | undefined },
  session: Session,
  options: { isDryRun: boolean },
): Promise<Pin[]> {
  const folder = stateDir();
  if (accept !== undefined) {
    const fingerprint = wholeFingerprint(accept);
    const since = new Date(session.clock.now()).toISOString();
    const origin = await requireOrigin(session);
    return acceptPin(folder, { ...origin, fingerprint, subject: '', since }, options);
  }
  if (forget === undefined) return readPins(folder);
  const before = await readPins(folder);
  const after = await forgetPins(folder, await requireOrigin(session), forget, options);
  if (after.length === before.length)
    throw new UsageError(`No seal with the fingerprint ${forget} is pinned for this profile.`, {
      hint: '`esign documents pins` lists them.',
    });
  return after;
}
