import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { RIGHT, WRONG } from './canaries.js';
import { startRelay } from './relay.js';

/**
 * Sends every canary over real sockets, with a relay in between as in the real run.
 * @returns {Promise<string[]>} the violations that the check missed, and its false alarms
 */
export async function rehearse(judge) {
  let reply;
  const service = createServer((_, response) => {
    if (reply === null) response.destroy();
    else response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  let heard;
  const relay = await startRelay(`http://127.0.0.1:${service.address().port}`, (exchange) => heard(exchange));

  const problemsOf = async (canary) => {
    reply = canary.response;
    const judged = new Promise((resolve) => {
      heard = resolve;
    });
    await ask(relay.origin, canary);
    return judge(await judged);
  };
  const faults = [];
  for (const [name, canary] of Object.entries(WRONG))
    if ((await problemsOf(canary)).length === 0) faults.push(`not seen: ${name}`);
  for (const [name, canary] of Object.entries(RIGHT))
    for (const problem of await problemsOf(canary)) faults.push(`wrongly seen: ${name}: ${problem}`);
  relay.close();
  service.close();
  return faults;
}

async function ask(origin, { method, url, headers, body }) {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  const call = request(`${origin}${url}`, { method, headers: Object.fromEntries(given), agent: false });
  call.end(body);
  try {
    const [response] = await once(call, 'response');
    await text(response);
  } catch {
    // The canary has no response on purpose.
  }
}
