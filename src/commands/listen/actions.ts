import { runCommand } from '../../cli/input/run-command.ts';
import type { JournalPosition } from '../../journal/day-journal.ts';
import { messageOf } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { jsonText } from '../../output/json.ts';
import { DeliveryBuffer } from '../../webhooks/journal/delivery-buffer.ts';
import { COMPLETED } from '../../webhooks/journal/record.ts';
import type { Delivery } from '../../webhooks/receive/delivery.ts';
import { deliveryLine } from '../events/delivery-view.ts';

interface Actions {
  /** The user's command for each delivery. */
  exec: string | undefined;
  /** The folder for the documents of completed envelopes, if they are to be downloaded. */
  dir: string | undefined;
  download: (envelopeId: string, dir: string) => Promise<void>;
  warn: (message: string) => void;
}

/** Runs the user's command for accepted deliveries and downloads documents, one delivery after another. */
export class DeliveryActions {
  readonly #actions: Actions;
  readonly #buffer = new DeliveryBuffer();
  readonly #downloaded = new Set<string>();
  /** Completed envelopes whose documents could not be downloaded yet. */
  readonly #missing = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #resuming: Promise<void> = Promise.resolve();
  #isEnding = false;

  constructor(actions: Actions) {
    this.#actions = actions;
  }

  /** Queues a delivery. A duplicate only repeats a download that failed. */
  take(delivery: Delivery, place: JournalPosition): void {
    const { exec, dir, warn } = this.#actions;
    if (dir === undefined && (exec === undefined || delivery.duplicate)) return;
    const buffered = this.#buffer.add(delivery, place);
    this.#work = this.#work
      .then(() => buffered.take())
      .then((taken) => this.#actOn(taken))
      .catch((error: unknown) => warn(messageOf(error)));
  }

  /**
   * Downloads documents that an earlier listener did not download, between the deliveries that arrive in the meantime. `find` returns
   * their envelopes.
   */
  resume(find: () => Promise<string[]>): void {
    const report = (error: unknown) => this.#actions.warn(messageOf(error));
    const all = async () => {
      const ids = await find();
      for (const id of ids) this.#missing.add(id);
      for (const id of ids) if (!this.#isEnding) await this.download(id).catch(report);
    };
    this.#resuming = all().catch(report);
  }

  /** Waits until all queued deliveries and resumed downloads are processed. */
  async done(): Promise<void> {
    await this.#resuming;
    await this.#work;
  }

  /** Waits until all queued deliveries are processed, and names the envelopes whose documents are still missing. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.done();
    const { dir = '.', warn } = this.#actions;
    for (const id of this.#missing) {
      const retry = command('envelopes', 'download', id, '--dir', dir);
      warn(`The documents of ${id} were not downloaded. Run \`${retry}\`.`);
    }
  }

  /** Downloads the documents of a completed envelope, unless they have been downloaded. Waits for the queued deliveries. */
  download(envelopeId: string): Promise<void> {
    const download = this.#work.then(() => this.#download(envelopeId));
    this.#work = download.catch(() => undefined);
    return download;
  }

  async #download(envelopeId: string): Promise<void> {
    const { dir, download } = this.#actions;
    if (dir === undefined || this.#downloaded.has(envelopeId)) return;
    this.#missing.add(envelopeId);
    await download(envelopeId, dir);
    this.#missing.delete(envelopeId);
    this.#downloaded.add(envelopeId);
  }

  async #actOn(delivery: Delivery): Promise<void> {
    const { duplicate, verified, event, envelopeId } = delivery;
    const { exec } = this.#actions;
    if (exec !== undefined && !duplicate) await this.#run(exec, delivery);
    if (envelopeId === null || !verified) return;
    const isDone = event === COMPLETED && !duplicate;
    if (isDone || this.#missing.has(envelopeId)) await this.#download(envelopeId);
  }

  async #run(line: string, delivery: Delivery): Promise<void> {
    const { event, envelopeId } = delivery;
    const env = {
      ESIGN_DELIVERY_ID: delivery.deliveryId,
      ESIGN_EVENT: event ?? '',
      ESIGN_ENVELOPE_ID: envelopeId ?? '',
    };
    const { code, signal } = await runCommand(line, `${jsonText(deliveryLine(delivery))}\n`, env);
    if (code !== 0)
      this.#actions.warn(
        `The command for ${event ?? 'an event'} exited with ${signal ?? code ?? 'an error'}.`,
      );
  }
}
