import type { CommandTerminal } from '../../cli/terminal.ts';
import { messageOf } from '../../kernel/errors.ts';
import { jsonText } from '../../output/json.ts';
import { type BufferedDelivery, DeliveryBuffer } from '../journal/delivery-buffer.ts';
import type { ListenEvent, ListenerOptions } from '../listen-event.ts';
import { deliveryLine, forwardLine, renderDelivery } from './delivery-text.ts';

interface Line {
  /** The destination of a line: stdout, where it is printed as is, or stderr, where it is a sentence. */
  to: 'out' | 'err';
  text: string;
}

type PlainEvent = Exclude<ListenEvent, { type: 'delivery' }>;
type Shown = Line | BufferedDelivery;

/** The number of characters that are written together. */
const MAX_CHUNK_CHARS = 65_536;

/** Shows the events of a listener as JSON lines or text, in order, even across streams. */
export class ListenView {
  readonly #terminal: CommandTerminal;
  readonly #startsTunnel: boolean;
  readonly #namesUrl: boolean;
  readonly #buffer = new DeliveryBuffer();
  #waiting: Shown[] = [];
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
    if (event.type === 'delivery') this.#waiting.push(this.#buffer.add(event.delivery, event.place));
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
      this.#waiting = [];
      for (const next of shown) await this.#writeLine('take' in next ? await this.#deliveryLine(next) : next);
      await this.#flush();
      await this.#terminal.flushed();
    }
    this.#writing = undefined;
  }

  async #writeLine({ to, text }: Line): Promise<void> {
    if (to === 'out') this.#chunk += text;
    if (to === 'err' || this.#chunk.length > MAX_CHUNK_CHARS) await this.#flush();
    if (to === 'err') this.#terminal.notice(text);
  }

  async #flush(): Promise<void> {
    const chunk = this.#chunk;
    this.#chunk = '';
    if (chunk !== '') await this.#terminal.hidingSecrets().out(chunk);
  }

  async #deliveryLine(buffered: BufferedDelivery): Promise<Line> {
    const { deliveryId } = buffered;
    try {
      const delivery = await buffered.take();
      const terminal = this.#terminal;
      return terminal.json
        ? line(deliveryLine(delivery))
        : { to: 'out', text: renderDelivery(delivery, terminal) };
    } catch (error) {
      return notice(`Delivery ${deliveryId} can't be printed: ${messageOf(error)}`);
    }
  }

  #asJson(event: PlainEvent): Line[] {
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

  #inWords(event: PlainEvent): Line[] {
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

  #ready({ url, verify, inspectorUrl, healthUrl }: Extract<ListenEvent, { type: 'ready' }>): Line[] {
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

function line(value: unknown): Line {
  return { to: 'out', text: `${jsonText(value)}\n` };
}

function notice(text: string): Line {
  return { to: 'err', text };
}
