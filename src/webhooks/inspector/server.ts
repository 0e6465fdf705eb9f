import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { closeServer, openPort } from '../../kernel/network/listening.ts';
import type { EventRecord } from '../journal/record.ts';
import { DeliveryBoard } from './board.ts';
import { type InspectedListener, inspectorApp } from './routes.ts';

export interface InspectorOptions extends InspectedListener {
  /** Deliveries received earlier, newest first. */
  earlier: AsyncIterable<EventRecord>;
}

export interface Inspector {
  /** The link including its token. Anyone who has it can see everything. */
  url: string;
  /** The deliveries that the page shows. */
  board: DeliveryBoard;
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
    board,
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
