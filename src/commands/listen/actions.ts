import type { Context } from '../../cli/context.ts';
import { runCommand } from '../../cli/input/run-command.ts';
import type { JournalPosition } from '../../journal/day-journal.ts';
import { messageOf } from '../../kernel/errors.ts';
import { jsonText } from '../../output/json.ts';
import { DeliveryBuffer } from '../../webhooks/journal/delivery-buffer.ts';
import type { Delivery } from '../../webhooks/receive/delivery.ts';
import { downloadDocuments } from '../documents/download/run.ts';
import { deliveryLine } from '../events/delivery-view.ts';

export interface ActionFlags {
  exec?: string | undefined;
  download?: string | undefined;
}

/** Runs the user's command for accepted deliveries and downloads documents, one delivery after another. */
export class DeliveryActions {
  readonly #flags: ActionFlags;
  readonly #context: Context;
  readonly #warn: (message: string) => void;
  readonly #buffer = new DeliveryBuffer();
  readonly #downloaded = new Set<string>();
  #work: Promise<void> = Promise.resolve();

  constructor(flags: ActionFlags, context: Context, warn: (message: string) => void) {
    this.#flags = flags;
    this.#context = context;
    this.#warn = warn;
  }

  /** Queues a delivery. Duplicates are ignored. */
  take(delivery: Delivery, place: JournalPosition): void {
    const { exec, download } = this.#flags;
    if (delivery.duplicate || (exec === undefined && download === undefined)) return;
    const buffered = this.#buffer.add(delivery, place);
    this.#work = this.#work
      .then(() => buffered.take())
      .then((taken) => this.#actOn(taken))
      .catch((error: unknown) => this.#warn(messageOf(error)));
  }

  /** Waits until all queued deliveries are processed. */
  done(): Promise<void> {
    return this.#work;
  }

  /** Downloads the documents of a completed envelope once, if the user asked for it. */
  async download(envelopeId: string): Promise<void> {
    const { download } = this.#flags;
    if (download === undefined || this.#downloaded.has(envelopeId)) return;
    this.#downloaded.add(envelopeId);
    await downloadDocuments(envelopeId, download, this.#context);
  }

  async #actOn(delivery: Delivery): Promise<void> {
    const { event, envelopeId } = delivery.facts ?? { event: null, envelopeId: null };
    if (this.#flags.exec !== undefined) await this.#run(this.#flags.exec, delivery);
    const isDone = event === 'envelope.completed' && envelopeId !== null && delivery.verified;
    if (isDone) await this.download(envelopeId);
  }

  async #run(line: string, delivery: Delivery): Promise<void> {
    const { event, envelopeId } = delivery.facts ?? { event: null, envelopeId: null };
    const env = {
      ESIGN_DELIVERY_ID: delivery.deliveryId,
      ESIGN_EVENT: event ?? '',
      ESIGN_ENVELOPE_ID: envelopeId ?? '',
    };
    const { code, signal } = await runCommand(line, `${jsonText(deliveryLine(delivery))}\n`, env);
    if (code !== 0)
      this.#warn(`The command for ${event ?? 'an event'} exited with ${signal ?? code ?? 'an error'}.`);
  }
}
