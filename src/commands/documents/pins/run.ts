import type { Context } from '../../../cli/context.ts';
import type { Session } from '../../../cli/session.ts';
import { acceptPin, forgetPins, type Pin, readPins } from '../../../documents/seal/pins.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { stateDir } from '../../../kernel/files/paths.ts';
import { type ListFormat, type ListView, writeList } from '../../../output/list.ts';
import { requireOrigin, wholeFingerprint } from '../signers.ts';

export interface PinFlags extends ListFormat {
  accept?: string | undefined;
  forget?: string | undefined;
  'dry-run': boolean;
}

const pinList: ListView<Pin> = {
  columns: [
    { key: 'fingerprint', header: 'FINGERPRINT', value: ({ fingerprint }) => fingerprint },
    { key: 'subject', header: 'SEALED BY', value: ({ subject }) => subject },
    { key: 'profile', header: 'PROFILE', value: ({ profile }) => profile },
    { key: 'baseUrl', header: 'BASE URL', value: ({ baseUrl }) => baseUrl },
    { key: 'since', header: 'SINCE', value: ({ since }) => since },
  ],
  id: ({ fingerprint }) => fingerprint,
  empty:
    'No seals are pinned yet. The seal is pinned the first time you download a signed document together with its certificate.',
};

/** Lists the pinned seals. If requested, first accepts or forgets one. */
export async function changePins(flags: PinFlags, context: Context): Promise<void> {
  const pins = await (flags['dry-run'] ? readPins(stateDir()) : changed(flags, context.session));
  await writeList(pins, pinList, { ...flags, json: context.terminal.json }, context.terminal);
}

async function changed({ accept, forget }: PinFlags, session: Session): Promise<Pin[]> {
  const folder = stateDir();
  if (accept !== undefined) {
    const fingerprint = wholeFingerprint(accept);
    const since = new Date(session.clock.now()).toISOString();
    return acceptPin(folder, { ...(await requireOrigin(session)), fingerprint, subject: '', since });
  }
  if (forget === undefined) return readPins(folder);
  const before = await readPins(folder);
  const after = await forgetPins(folder, await requireOrigin(session), forget);
  if (after.length === before.length)
    throw new UsageError(`No seal with the fingerprint ${forget} is pinned for this profile.`, {
      hint: '`esign documents pins` lists them.',
    });
  return after;
}
