import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { closeServer } from '../../kernel/network/listening.ts';
import type { ForwardResult } from '../forward/send.ts';
import type { EventRecord } from '../journal/record.ts';
import { openPort } from '../open-port.ts';
import { DeliveryBoard } from './board.ts';
import { type InspectedListener, inspectorApp } from './routes.ts';

export interface InspectorOptions extends InspectedListener {
  /** Deliveries received earlier, newest first. */
  earlier: AsyncIterable<EventRecord>;
}

export interface Inspector {
  /** The link including its token. Anyone who has it can see everything. */
  url: string;
  /** Sets the address at which webhooks are received. */
  listensAt(url: string): void;
  /** Adds a delivery that was stored in the journal, with the time its sender waited for the response. */
  received(record: EventRecord, answeredInMs: number): void;
  forwarded(result: ForwardResult): void;
  close(): Promise<void>;
}

/** The maximum number of earlier deliveries to show. */
const EARLIER = 500;
const LOOPBACK = '127.0.0.1';

/**
 * Starts a web page on loopback that shows deliveries as they arrive, to anyone who has the link.
 */
export async function startInspector(options: InspectorOptions): Promise<Inspector> {
  const board = new DeliveryBoard(options.clock);
  for (const record of await latest(options.earlier)) board.addDelivery(record, null);
  const token = randomBytes(24).toString('base64url');
  const closing = new AbortController();
  const app = inspectorApp({ ...options, board, token, closing: closing.signal });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const origin = await openPort(server, { host: LOOPBACK, port: 0, what: 'open the inspector' });
  return {
    url: `${origin}/${token}/`,
    listensAt: (url) => {
      board.listensAt = url;
    },
    received: (record, answeredInMs) => board.addDelivery(record, answeredInMs),
    forwarded: (result) => board.addForward(result, false),
    close: () => {
      closing.abort();
      return closeServer(server);
    },
  };
}

/** Returns the latest records, oldest first. */
async function latest(records: AsyncIterable<EventRecord>): Promise<EventRecord[]> {
  const kept: EventRecord[] = [];
  for await (const record of records) {
    kept.push(record);
    if (kept.length === EARLIER) break;
  }
  return kept.reverse();
}
