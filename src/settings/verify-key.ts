import type { Client } from '../api/client.ts';
import { readPage } from '../api/pages.ts';

/**
 * Checks the key by requesting one template from the service, the cheapest read there is.
 * @throws ServiceError, NetworkError or BadResponseError if the key or the address doesn't work.
 */
export async function verifyKey(client: Client, signal?: AbortSignal): Promise<void> {
  await readPage(client.send, { path: '/esign/templates', pageSize: 1, signal }, 1);
}
