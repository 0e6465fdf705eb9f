import { defaultFileName } from '../../documents/archive/file-names.ts';
import { parseLine, readManifest } from '../../documents/archive/manifest.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { readEvents } from '../../webhooks/journal/event-journal.ts';
import { COMPLETED } from '../../webhooks/journal/record.ts';
import type { ListenerOptions } from '../../webhooks/listen-event.ts';
import { LISTENER_DOCUMENTS } from '../documents/download/run.ts';

/** How far back unfinished downloads are found. */
const WINDOW_MS = 7 * DAY_MS;

/**
 * Returns the envelopes, oldest first, whose documents an earlier listener was to download into the same folder. Those that are listed in
 * its SHA256SUMS have been downloaded, even if they were moved since.
 */
export async function unfinishedDownloads({
  eventsFolder,
  downloadTo: dir,
  clock,
}: Pick<ListenerOptions, 'eventsFolder' | 'downloadTo' | 'clock'>): Promise<string[]> {
  if (dir === undefined) return [];
  const selection = { events: new Set([COMPLETED]), verified: true, since: clock.now() - WINDOW_MS };
  const ids = new Set<string>();
  for await (const { envelopeId, downloadTo } of readEvents(eventsFolder, selection))
    if (downloadTo === dir && envelopeId !== null) ids.add(envelopeId);
  if (ids.size === 0) return [];
  const listed = new Set((await readManifest(dir)).map((line) => parseLine(line)?.name));
  const isMissing = (id: string) => LISTENER_DOCUMENTS.some((what) => !listed.has(defaultFileName(id, what)));
  return [...ids].filter(isMissing).reverse();
}
