import type { Client } from '../api/client.ts';
import { readPage } from '../api/pages.ts';

/**
 * Asks the service for one template with the key, the cheapest read there is.
 * @throws ServiceError, NetworkError or BadResponseError when key or address do not work.
 */
export async function verifyKey(client: Client, signal?: AbortSignal): Promise<void> {
  await readPage(client.send, { path: '/esign/templates', pageSize: 1, signal }, 1);
}
