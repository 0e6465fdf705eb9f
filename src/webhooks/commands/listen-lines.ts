import type { CommandTerminal } from '../../cli/terminal.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { JournalPosition } from '../../lines/day-journal.ts';
import { jsonText } from '../../output/json.ts';
import { readEvent } from '../journal/event-journal.ts';
import { deliveryFromEventRecord } from '../journal/record.ts';
import type { ListenEvent, ListenerOptions } from '../listen-event.ts';
import type { Delivery } from '../receive/delivery.ts';
import { deliveryLine, forwardLine, renderDelivery } from './delivery-text.ts';

interface OutputLine {
  /** The destination of a line: stdout, where it is printed as is, or stderr, where it is a sentence. */
  to: 'out' | 'err';
  text: string;
}

type DeliveryEvent = Extract<ListenEvent, { type: 'delivery' }>;
type PlainEvent = Exclude<ListenEvent, DeliveryEvent>;
/** A line, or a function that returns it when it is written. */
type Shown = OutputLine | (() => Promise<OutputLine>);

/** The number of characters that wait in memory for a slow reader. Other deliveries are read from the journal when they are printed. */
const MAX_WAITING_CHARS = 8 * 1024 * 1024;

/** The number of characters that are written together. */
const MAX_CHUNK_CHARS = 65_536;

/** Shows the events of a listener as JSON lines or text, in order, even across streams. */
export class ListenView {
  readonly #terminal: CommandTerminal;
  readonly #startsTunnel: boolean;
  readonly #namesUrl: boolean;
  #waiting: Shown[] = [];
  #waitingChars = 0;
  /** The lines for stdout that are not written yet. */
  #chunk = '';
  #writing: Promise<void> | undefined;

  constructor(
    terminal: CommandTerminal,
    { tunnel, forwardTo }: Pick<ListenerOptions, 'tunnel' | 'forwardTo'>,
  ) {
    this.#terminal = terminal;
    this.#startsTunnel = tunnel !== undefined;
    this.#namesUrl = forwardTo.length > 1;
  }

  take(event: ListenEvent): void {
    if (event.type === 'delivery') this.#waiting.push(this.#delivery(event));
    else this.#waiting.push(...(this.#terminal.json ? this.#asJson(event) : this.#inWords(event)));
    // Lines that arrive together are written together.
    this.#writing ??= this.#soon();
  }

  #soon(): Promise<void> {
    const writing = new Promise((resolve) => setImmediate(resolve)).then(() => this.#write());
    // Errors are reported at the end. A broken stdout stops the listener (boot/standard-output.ts).
    writing.catch(() => undefined);
    return writing;
  }

  /** Resolves when all lines are written. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const shown = this.#waiting;
      [this.#waiting, this.#waitingChars] = [[], 0];
      for (const next of shown) await this.#writeLine(typeof next === 'function' ? await next() : next);
      await this.#flush();
      await this.#terminal.flushed();
    }
    this.#writing = undefined;
  }

  async #writeLine({ to, text }: OutputLine): Promise<void> {
    if (to === 'out') this.#chunk += text;
    if (to === 'err' || this.#chunk.length > MAX_CHUNK_CHARS) await this.#flush();
    if (to === 'err') this.#terminal.notice(text);
  }

  async #flush(): Promise<void> {
    const chunk = this.#chunk;
    this.#chunk = '';
    if (chunk !== '') await this.#terminal.hidingSecrets().out(chunk);
  }

  #delivery({ delivery, place }: DeliveryEvent): Shown {
    if (this.#waitingChars > MAX_WAITING_CHARS) return this.#storedDelivery(delivery.deliveryId, place);
    const shown = this.#deliveryLine(delivery);
    this.#waitingChars += shown.text.length;
    return shown;
  }

  /** Not a closure in `#delivery`, which would keep the delivery in memory. */
  #storedDelivery(deliveryId: string, place: JournalPosition): () => Promise<OutputLine> {
    return async () => {
      const record = await readEvent(place, deliveryId).catch(messageOf);
      return typeof record === 'object'
        ? this.#deliveryLine(deliveryFromEventRecord(record))
        : notice(`Delivery ${deliveryId} can't be printed: ${record ?? 'it was deleted from the journal'}`);
    };
  }

  #deliveryLine(delivery: Delivery): OutputLine {
    const terminal = this.#terminal;
    return terminal.json
      ? line(deliveryLine(delivery))
      : { to: 'out', text: renderDelivery(delivery, terminal) };
  }

  #asJson(event: PlainEvent): OutputLine[] {
    switch (event.type) {
      case 'ready':
        return [
          line(event),
          ...(event.verify ? [] : [line({ type: 'warning', message: 'Signatures are not checked.' })]),
        ];
      case 'forward':
        return [{ to: 'out', text: forwardLine(event.result, this.#terminal, true) }];
      case 'warning':
        // Also printed on stderr, for users whose programs only parse deliveries.
        return [line(event), notice(event.message)];
      case 'notice':
        return [notice(event.message)];
      default:
        return [line(event)];
    }
  }

  #inWords(event: PlainEvent): OutputLine[] {
    const terminal = this.#terminal;
    switch (event.type) {
      case 'ready':
        return this.#ready(event);
      case 'tunnel':
        return [notice(`Public URL: ${event.url}. Use it as an envelope's --webhook-url.`)];
      case 'forward':
        return [{ to: 'out', text: forwardLine(event.result, terminal, false, this.#namesUrl) }];
      case 'warning':
      case 'notice':
        return [notice(event.message)];
      case 'summary':
        return [
          notice(
            `Stopped. ${event.received} received, ${event.verified} verified, ${event.refused} refused.`,
          ),
        ];
    }
  }

  #ready({ url, verify, inspectorUrl, healthUrl }: Extract<ListenEvent, { type: 'ready' }>): OutputLine[] {
    const next = this.#startsTunnel ? 'Starting the tunnel.' : "Use it as an envelope's --webhook-url.";
    const lines = [notice(`Listening at ${url}. ${next} Press Ctrl-C to stop.`)];
    if (inspectorUrl !== undefined)
      lines.push(notice(`Inspector: ${inspectorUrl} (private link, valid until you stop listening)`));
    if (healthUrl !== undefined) lines.push(notice(`Health: ${healthUrl}`));
    if (!verify)
      lines.push(
        notice('Signatures are not checked, so anyone who can reach this address can send forged events.'),
      );
    return lines;
  }
}

function line(value: unknown): OutputLine {
  return { to: 'out', text: `${jsonText(value)}\n` };
}

function notice(text: string): OutputLine {
  return { to: 'err', text };
}
