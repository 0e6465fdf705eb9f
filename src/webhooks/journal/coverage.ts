import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Clock } from '../../kernel/clock.ts';
import { writeFileAtomic } from '../../kernel/files/files.ts';
import { identifyProcess, isAlive } from '../../kernel/files/process-identity.ts';
import { tryParseJson } from '../../kernel/json.ts';

/** How often a listener records that it is running. */
const HEARTBEAT_MS = 30_000;
/** A longer pause means that the machine was asleep or the listener was killed. */
const MAX_PAUSE_MS = 2 * HEARTBEAT_MS + 5_000;
/** How long the records are kept. */
const RETENTION_MS = 400 * 86_400_000;

const spanSchema = z.object({ url: z.string(), from: z.number(), until: z.number(), open: z.boolean() });
const fileSchema = z.object({
  coverage: z.literal(1),
  /** The process of the listener. */
  identity: z.optional(z.string()),
  spans: z.array(spanSchema),
});

/** A time span, in ms by the local clock, in which a listener received everything that was sent to an address. */
export type CoveredSpan = z.infer<typeof spanSchema>;

/** Returns the folder of the records, next to the days of the journal. */
function coverageFolder(eventsFolder: string): string {
  return join(eventsFolder, 'coverage');
}

/**
 * Records the times at which a listener received everything sent to its addresses, in a file that is rewritten every 30 seconds.
 * If the file can't be written, missing webhooks can't be proven later.
 */
export class CoverageLog {
  readonly #path: string;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #spans: CoveredSpan[] = [];
  readonly #stopping = new AbortController();
  #heartbeatAt = 0;
  #heartbeat: Promise<void> | undefined;
  readonly #identity = identifyProcess();
  #written: Promise<void> = Promise.resolve();

  constructor(eventsFolder: string, name: string, clock: Clock) {
    this.#folder = coverageFolder(eventsFolder);
    this.#path = join(this.#folder, `${name}.json`);
    this.#clock = clock;
  }

  /** Records that the listener is reachable at the address from now on. */
  begin(url: string): void {
    const now = this.#clock.now();
    this.#end((span) => span.url === url, now);
    this.#spans.push({ url, from: now, until: now, open: true });
    this.#heartbeatAt = now;
    this.#heartbeat ??= this.#saveHeartbeat();
    this.#write();
  }

  /** Records that the address is no longer reachable. */
  end(url: string): void {
    this.#end((span) => span.url === url, this.#clock.now());
    this.#write();
  }

  /** Records a lost delivery, which ends the current span. */
  interrupt(): void {
    const now = this.#clock.now();
    for (const span of this.#spans.filter(({ open }) => open)) {
      span.open = false;
      span.until = Math.min(span.until, now - 1);
      // Drops very short spans, so that the file stays small.
      if (span.until - span.from < HEARTBEAT_MS) this.#spans.splice(this.#spans.indexOf(span), 1);
      this.#spans.push({ url: span.url, from: now, until: now, open: true });
    }
    this.#heartbeatAt = now;
    this.#write();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#heartbeat;
    this.#end(() => true, this.#clock.now());
    this.#write();
    await this.#written;
  }

  async #saveHeartbeat(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#removeOld();
    for (;;) {
      await this.#clock.sleep(HEARTBEAT_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      const now = this.#clock.now();
      const wasAsleep = now - this.#heartbeatAt > MAX_PAUSE_MS || now < this.#heartbeatAt;
      if (wasAsleep) this.interrupt();
      else for (const span of this.#spans.filter(({ open }) => open)) span.until = now;
      this.#heartbeatAt = now;
      this.#write();
      await this.#written;
    }
  }

  #end(which: (span: CoveredSpan) => boolean, now: number): void {
    for (const span of this.#spans.filter((one) => one.open && which(one))) {
      // If the last beat is too long ago, the time since then is not covered.
      if (now - this.#heartbeatAt <= MAX_PAUSE_MS) span.until = Math.max(span.until, now);
      span.open = false;
    }
  }

  #write(): void {
    if (this.#spans.length === 0) return;
    const spans = structuredClone(this.#spans);
    const identity = this.#identity;
    this.#written = this.#written
      .then(async () => {
        await mkdir(this.#folder, { recursive: true, mode: 0o700 });
        await writeFileAtomic(this.#path, `${JSON.stringify({ coverage: 1, identity, spans })}\n`);
      })
      .catch(() => undefined);
  }

  async #removeOld(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      const path = join(this.#folder, name);
      const { spans } = await readFileOf(path);
      const isOld = spans.every(({ until }) => this.#clock.now() - until > RETENTION_MS);
      if (isOld && path !== this.#path) await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

/** Returns the time spans in which listeners on this machine received everything sent to their addresses. */
export async function readCoverage(eventsFolder: string, now: number): Promise<CoveredSpan[]> {
  const folder = coverageFolder(eventsFolder);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'));
  const files = await Promise.all(names.map((name) => readFileOf(join(folder, name))));
  const spans = files.map(({ identity, spans: own }) => {
    const isRunning = identity === undefined || isAlive(identity);
    const isOpen = (span: CoveredSpan) => isRunning && span.open && now - span.until <= MAX_PAUSE_MS;
    return own.map((span) => (isOpen(span) ? { ...span, until: now } : span));
  });
  return spans.flat();
}

/** Returns true if the spans of the address cover the whole time between `from` and `until`. */
export function covers(spans: readonly CoveredSpan[], url: string, from: number, until: number): boolean {
  const address = listenerAddress(url);
  let reached = from;
  const own = spans.filter((span) => listenerAddress(span.url) === address).sort((a, b) => a.from - b.from);
  let begun = false;
  for (const span of own) {
    if (span.from > reached || span.until < reached) continue;
    begun = true;
    reached = span.until;
  }
  return begun && reached >= until;
}

const THIS_MACHINE = /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** Normalizes an address, so that addresses of the same listener are equal. */
export function listenerAddress(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const host = THIS_MACHINE.test(hostname) ? 'localhost' : hostname;
  return `${protocol}//${host}:${port}${pathname.replace(/\/$/, '')}${search}`;
}

async function readFileOf(path: string): Promise<z.infer<typeof fileSchema>> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return fileSchema.safeParse(tryParseJson(text)).data ?? { coverage: 1, spans: [] };
}
