import type { ForwardResult } from '../../webhooks/forward/send.ts';
import type { Inspector } from '../../webhooks/inspector/server.ts';
import { readEvents } from '../../webhooks/journal/event-journal.ts';
import type { EventRecord } from '../../webhooks/journal/record.ts';
import type { Context } from '../context.ts';
import { eventNames } from './event-flags.ts';

export interface InspectFlags {
  inspect?: boolean;
  'inspect-port'?: number | undefined;
  'signature-header': string;
  events?: string | undefined;
  verify: boolean;
  'forward-to'?: string[] | undefined;
  'forward-timeout'?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** The page of `listen --inspect`, with what was received today; its code is loaded only then. */
export async function openInspector(
  flags: InspectFlags,
  folder: string,
  context: Context,
  onReplay: (result: ForwardResult) => void,
): Promise<Inspector | undefined> {
  if (!flags.inspect) return undefined;
  const { startInspector } = await import('../../webhooks/inspector/server.ts');
  return startInspector({
    port: flags['inspect-port'] ?? 0,
    targets: flags['forward-to'] ?? [],
    timeoutMs: flags['forward-timeout'] ?? DEFAULT_TIMEOUT_MS,
    signatureHeader: flags['signature-header'].toLowerCase(),
    verify: flags.verify,
    clock: context.clock,
    redactor: context.redactor,
    earlier: today(folder, flags.events, context.clock.now()),
    onReplay,
  });
}

/** What a listener with these flags shows of today's deliveries, the latest first. */
async function* today(
  folder: string,
  events: string | undefined,
  now: number,
): AsyncGenerator<EventRecord, void, undefined> {
  const wanted = eventNames(events);
  for await (const record of readEvents(folder, { since: new Date(now).setHours(0, 0, 0, 0) }))
    if (record.reason !== null || wanted === undefined || wanted.has(record.event ?? '')) yield record;
}
