import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { jsonText } from '../../output/json.ts';
import type { ListenEvent, ListenerOptions } from '../../webhooks/listen-event.ts';
import { deliveryLine, forwardLine, renderDelivery } from '../events/delivery-view.ts';

interface Shown {
  /** The destination of a line: stdout, where it is printed as is, or stderr, where it is a sentence. */
  to: 'out' | 'err';
  text: string;
}

/** Shows the events of a listener as JSON lines or text, in order, even across streams. */
export class ListenView {
  readonly #terminal: CommandTerminal;
  readonly #startsTunnel: boolean;
  readonly #namesUrl: boolean;
  #waiting: Shown[] = [];
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
    this.#waiting.push(...(this.#terminal.json ? this.#asJson(event) : this.#inWords(event)));
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
    const terminal = this.#terminal.hidingSecrets();
    while (this.#waiting.length > 0) {
      const shown = this.#waiting;
      this.#waiting = [];
      let lines = '';
      for (const { to, text } of shown) {
        if (to === 'out') lines += text;
        else {
          if (lines !== '') await terminal.out(lines);
          lines = '';
          this.#terminal.notice(text);
        }
      }
      if (lines !== '') await terminal.out(lines);
    }
    this.#writing = undefined;
  }

  #asJson(event: ListenEvent): Shown[] {
    switch (event.type) {
      case 'ready':
        return [
          line(event),
          ...(event.verify ? [] : [line({ type: 'warning', message: 'Signatures are not checked.' })]),
        ];
      case 'delivery':
        return [line(deliveryLine(event.delivery))];
      case 'forward':
        return [{ to: 'out', text: forwardLine(event.result, this.#terminal, true) }];
      case 'warning':
        // Also printed on stderr, for users whose programs only parse deliveries.
        return [line(event), notice(event.message)];
      case 'draining':
        return [];
      default:
        return [line(event)];
    }
  }

  #inWords(event: ListenEvent): Shown[] {
    const terminal = this.#terminal;
    switch (event.type) {
      case 'ready':
        return this.#ready(event);
      case 'tunnel':
        return [notice(`Public URL: ${event.url}. Use it as an envelope's --webhook-url.`)];
      case 'backlog':
        return [notice(`Pending forwards from an earlier run: ${grouped(event.pending)}.`)];
      case 'delivery':
        return [{ to: 'out', text: renderDelivery(event.delivery, terminal) }];
      case 'forward':
        return [{ to: 'out', text: forwardLine(event.result, terminal, false, this.#namesUrl) }];
      case 'removed':
        return [notice(`Deleted ${counted(event.days, 'day')} of old webhooks.`)];
      case 'warning':
        return [notice(event.message)];
      case 'draining':
        return [notice('Waiting for pending forwards.')];
      case 'summary':
        return [
          notice(
            `Stopped. ${event.received} received, ${event.verified} verified, ${event.refused} refused.`,
          ),
        ];
    }
  }

  #ready({ url, verify, inspectorUrl, healthUrl }: Extract<ListenEvent, { type: 'ready' }>): Shown[] {
    const next = this.#startsTunnel ? 'Starting the tunnel.' : "Use it as an envelope's --webhook-url.";
    return [
      notice(`Listening at ${url}. ${next} Press Ctrl-C to stop.`),
      ...(inspectorUrl === undefined
        ? []
        : [notice(`Inspector: ${inspectorUrl} (private link, valid until you stop listening)`)]),
      ...(healthUrl === undefined ? [] : [notice(`Health: ${healthUrl}; metrics are at /metrics.`)]),
      ...(verify
        ? []
        : [
            notice(
              'Signatures are not checked, so anyone who can reach this address can send forged events.',
            ),
          ]),
    ];
  }
}

function line(value: unknown): Shown {
  return { to: 'out', text: `${jsonText(value)}\n` };
}

function notice(text: string): Shown {
  return { to: 'err', text };
}
