import type { Envelope, Signer } from '../../api/resource-types.ts';
import { matchedNameOrAddress } from '../../catalog/searchable-texts.ts';
import type { Selection } from '../../catalog/selection.ts';
import type { Context } from '../../cli/session/context.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { SentReminders } from '../../envelopes/sent-reminders.ts';
import { eventsDir, stateDir } from '../../kernel/files/paths.ts';
import { logFolder } from '../../log/log-folder.ts';
import { readReminders } from '../../log/read-log.ts';
import { readAccount } from '../../selection/select-envelopes.ts';
import { findLate, isOpened, type LateTurn, readOpenings } from '../late-turns.ts';

/** A late signer as printed. */
export type LateSigner = Awaited<ReturnType<typeof readLateSigners>>[number];

/** Returns the late signers of the selected envelopes, longest first. `afterMs`: a time to use instead of the usual one. */
export async function readLateSigners(selection: Selection, afterMs: number | undefined, context: Context) {
  const { session } = context;
  const account = await readAccount(selection, context);
  const now = session.now();
  const late = (await findLate(account, { now, afterMs })).filter(({ turn }) =>
    isNamed(turn.signer, selection),
  );
  const { baseUrl } = await session.settings();
  const reminders = new SentReminders(await readReminders(logFolder(stateDir()), baseUrl?.value ?? ''), now);
  const views = await readOpenings(eventsDir(), late, { now, ahead: now - session.clock.now() });
  return late.map((one) => {
    const { envelope, turn, waitingMs, usual } = one;
    const { signer, beganAt } = turn;
    const remindedAt = lastReminder(reminders, one);
    const { id = null, name = null, email = null, role = null } = signer;
    return {
      envelopeId: envelope.id,
      signer: { id, name, email, role },
      since: new Date(beganAt).toISOString(),
      waitingMs,
      usual,
      opened: isOpened(one, views),
      remindedAt,
      expiresAt: envelope.expiresAt ?? null,
      /** The command to run next. */
      next: nextCommand(envelope, signer, remindedAt, context.terminal),
    };
  });
}

/** Returns false for the other signers of an envelope that was selected by a signer. */
function isNamed(one: Signer, { signer }: Selection): boolean {
  return signer === undefined || matchedNameOrAddress(one, (text) => text.includes(signer)) !== undefined;
}

/** Returns the time of the last reminder that this machine sent to the signer since the turn began. */
function lastReminder(reminders: SentReminders, { envelope, turn }: LateTurn): string | null {
  const last = reminders.lastOf(envelope.id, turn.signer);
  return last === undefined || last.at < turn.beganAt ? null : new Date(last.at).toISOString();
}

/** Returns the command to run next: a reminder, or after that, the one that shows the details before a call. */
function nextCommand(
  envelope: Envelope,
  signer: Signer,
  remindedAt: string | null,
  { command }: Pick<CommandTerminal, 'command'>,
): string {
  if (remindedAt !== null) return command('envelopes', 'get', envelope.id);
  const isUnique = (envelope.signers ?? []).filter(({ email }) => email === signer.email).length === 1;
  const name = (isUnique ? signer.email : signer.id) || signer.email || '';
  return command('envelopes', 'remind', envelope.id, ...(name === '' ? [] : [`--signer=${name}`]));
}
