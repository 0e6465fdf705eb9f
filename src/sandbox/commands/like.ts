import type { Context } from '../../cli/session/context.ts';
import { listed } from '../../kernel/duration.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { profileNamed, readProfiles } from '../../settings/store.ts';
import { readStandIns, type StandIn } from './stand-ins.ts';

/** Reads the stand-ins of a profile's templates, with GET requests only. @throws UsageError for an unknown profile. */
export async function fetchStandIns(
  profile: string,
  { session, terminal, interrupt }: Context,
): Promise<StandIn[]> {
  session.restrictToReads();
  const client = await session.clientOf(profileNamed(readProfiles(configDir()), profile));
  const { templates, skipped } = await readStandIns(client, interrupt.signal);
  if (skipped.length > 0)
    terminal.notice(
      `The sandbox doesn't support these template IDs, so they were skipped: ${listed(skipped)}.`,
    );
  if (templates.length === 0) terminal.notice(`The account for profile ${profile} has no active templates.`);
  return templates;
}
