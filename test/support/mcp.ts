import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from './argv.ts';
import type { Home, LongRunning, RunOptions } from './cli.ts';

/** The result of a tool. */
export interface Called {
  isError: boolean;
  /** The JSON of its text. */
  reply: Record<string, unknown>;
  text: string;
}

/** An MCP client that talks to `esign mcp`. */
export class Assistant {
  readonly running: LongRunning;
  /** Every line of its stdout. */
  readonly lines: string[] = [];
  /** The questions for the user (elicitation), and what the user answers; undefined for a user who doesn't. */
  readonly questions: string[] = [];
  answerOfUser: Record<string, unknown> | undefined;
  readonly #waiting = new Map<number, (message: Record<string, unknown>) => void>();
  #last = 0;

  constructor(running: LongRunning) {
    this.running = running;
    void this.#read();
  }

  static start(
    home: Home,
    flags: readonly string[] = [],
    { capabilities, ...options }: RunOptions & { capabilities?: Record<string, unknown> } = {},
  ): Promise<Assistant> {
    return Assistant.of(home.background(argv`mcp ${flags}`, options), capabilities);
  }

  /** Connects to a server that was started. */
  static async of(running: LongRunning, capabilities: Record<string, unknown> = {}): Promise<Assistant> {
    const assistant = new Assistant(running);
    const clientInfo = { name: 'test', version: '1' };
    await assistant.ask('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo });
    assistant.write({ method: 'notifications/initialized' });
    return assistant;
  }

  write(message: Record<string, unknown>): void {
    this.running.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Sends a request and returns the complete response. */
  ask(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const id = ++this.#last;
    const answered = new Promise<Record<string, unknown>>((resolve) => this.#waiting.set(id, resolve));
    this.write({ id, method, params });
    return answered;
  }

  async tools(): Promise<Record<string, unknown>[]> {
    const { result } = await this.ask('tools/list');
    return isRecord(result) && isList(result.tools) ? result.tools.filter(isRecord) : [];
  }

  /** Returns the result of the tool; a call that the protocol refuses is a normal error. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<Called> {
    const message = await this.ask('tools/call', { name, arguments: args });
    const { result } = message;
    const [first] = isRecord(result) && isList(result.content) ? result.content : [];
    const text = isRecord(first) ? String(first.text) : JSON.stringify(message);
    const isError = !isRecord(result) || result.isError === true;
    return { isError, text, reply: objectIn(text) };
  }

  /** Returns the data of a call that must succeed. */
  async data(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { isError, reply, text } = await this.call(name, args);
    if (isError || !isRecord(reply.data)) throw new Error(`${name}: ${text}`);
    return reply.data;
  }

  /** The same for lists. */
  async items(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>[]> {
    const { isError, reply, text } = await this.call(name, args);
    if (isError || !isList(reply.data)) throw new Error(`${name}: ${text}`);
    return reply.data.filter(isRecord);
  }

  async end(): Promise<number | null> {
    this.running.child.stdin?.end();
    return (await this.running.ended).code;
  }

  async #read(): Promise<void> {
    for (;;) {
      const line = await this.running.line().catch(() => undefined);
      if (line === undefined) return;
      this.lines.push(line);
      const message = objectIn(line);
      if (message.method === 'elicitation/create') {
        this.questions.push(isRecord(message.params) ? String(message.params.message) : '');
        if (this.answerOfUser) this.write({ id: message.id, result: this.answerOfUser });
      }
      if ('method' in message) continue;
      const id = Number(message.id);
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    }
  }
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value = parseJson(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
