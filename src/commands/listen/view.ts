import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { jsonText } from '../../output/json.ts';
import type { ListenEvent, ListenerOptions } from '../../webhooks/listen-event.ts';
import { deliveryLine, forwardLine, renderDelivery } from '../events/delivery-view.ts';

interface Shown {
  /** For stdout as it is; for stderr a sentence. */
  to: 'out' | 'err';
  text: string;
}

/** What happens to a listener, as JSON lines or in words; in the order in which it happened, on whichever stream. */
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
    // Lines that come at once are written at once.
    this.#writing ??= this.#soon();
  }

  #soon(): Promise<void> {
    const writing = new Promise((resolve) => setImmediate(resolve)).then(() => this.#write());
    // Nobody waits for it before the end; a broken stdout stops the listener by itself (boot/output.ts).
    writing.catch(() => undefined);
    return writing;
  }

  /** Resolves when all of it is written. */
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
        // Whoever reads only the deliveries sees it, too.
        return [line(event), said(event.message)];
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
        return [said(`Reachable at ${event.url} from outside. Give it as --webhook-url.`)];
      case 'backlog':
        return [said(`Still to be forwarded from an earlier run: ${grouped(event.pending)}.`)];
      case 'delivery':
        return [{ to: 'out', text: renderDelivery(event.delivery, terminal) }];
      case 'forward':
        return [{ to: 'out', text: forwardLine(event.result, terminal, false, this.#namesUrl) }];
      case 'removed':
        return [said(`Removed ${counted(event.days, 'old day')} of webhooks.`)];
      case 'warning':
        return [said(event.message)];
      case 'draining':
        return [said('Waiting for what is being forwarded.')];
      case 'summary':
        return [
          said(`Stopped. ${event.received} received, ${event.verified} verified, ${event.refused} refused.`),
        ];
    }
  }

  #ready({ url, verify, inspectorUrl, healthUrl }: Extract<ListenEvent, { type: 'ready' }>): Shown[] {
    const next = this.#startsTunnel
      ? 'Starting the tunnel.'
      : 'Give it as --webhook-url when you create an envelope.';
    return [
      said(`Listening at ${url}. ${next} Ctrl-C stops.`),
      ...(inspectorUrl === undefined
        ? []
        : [said(`Inspect at ${inspectorUrl} (the link is a secret of this run).`)]),
      ...(healthUrl === undefined ? [] : [said(`Health at ${healthUrl}, metrics at /metrics beside it.`)]),
      ...(verify
        ? []
        : [said('Signatures are not checked: anyone who reaches this address can make up events.')]),
    ];
  }
}

function line(value: unknown): Shown {
  return { to: 'out', text: `${jsonText(value)}\n` };
}

function said(text: string): Shown {
  return { to: 'err', text };
}
