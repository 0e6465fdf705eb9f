import { runCommand } from '../../cli/input/run-command.ts';
import { messageOf } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { EventName } from '../../kernel/vocabulary.ts';
import type { JournalPosition } from '../../lines/day-journal.ts';
import { jsonText } from '../../output/json.ts';
import { readEvent } from '../journal/event-journal.ts';
import { deliveryFromEventRecord } from '../journal/record.ts';
import type { Delivery } from '../receive/delivery.ts';
import { deliveryLine } from './delivery-text.ts';

/** The event after which an envelope has signed documents. */
const COMPLETED: EventName = 'envelope.completed';

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
  #work: Promise<void> = Promise.resolve();

  constructor(actions: Actions) {
    this.#actions = actions;
  }

  take(delivery: Delivery, place: JournalPosition): void {
    const { exec, dir, warn } = this.#actions;
    if (delivery.duplicate || (dir === undefined && exec === undefined)) return;
    // Commands may be slower than deliveries, so only the place in the journal is kept until then.
    const { deliveryId } = delivery;
    this.#work = this.#work
      .then(() => this.#actOn(place, deliveryId))
      .catch((error: unknown) => warn(`Delivery ${deliveryId} was not processed: ${messageOf(error)}`));
  }

  /** Waits until all deliveries are processed. */
  done(): Promise<void> {
    return this.#work;
  }

  async #actOn(place: JournalPosition, deliveryId: string): Promise<void> {
    const record = await readEvent(place, deliveryId);
    if (record === undefined) throw new Error('it was deleted from the journal');
    const delivery = deliveryFromEventRecord(record);
    const { verified, event, envelopeId } = delivery;
    const { exec, dir } = this.#actions;
    if (exec !== undefined) await this.#run(exec, delivery);
    if (dir !== undefined && verified && event === COMPLETED && envelopeId !== null)
      await this.#download(envelopeId, dir);
  }

  async #download(envelopeId: string, dir: string): Promise<void> {
    const { download, warn } = this.#actions;
    try {
      await download(envelopeId, dir);
    } catch (error) {
      const retry = command('envelopes', 'download', envelopeId, '--dir', dir);
      warn(`The documents of ${envelopeId} were not downloaded: ${messageOf(error)} Run \`${retry}\`.`);
    }
  }

  async #run(line: string, delivery: Delivery): Promise<void> {
    const { event, envelopeId } = delivery;
    const env = { ESIGN_ENVELOPE_ID: envelopeId ?? '', ESIGN_EVENT: event ?? '' };
    const { code, signal } = await runCommand(line, `${jsonText(deliveryLine(delivery))}\n`, env);
    if (code !== 0)
      this.#actions.warn(
        `The command for ${event ?? 'an event'} exited with ${signal ?? code ?? 'an error'}.`,
      );
  }
}
