import { UsageError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import { EVENTS } from '../kernel/vocabulary.ts';
import { deliveryLine, renderDelivery } from '../output/delivery-view.ts';
import { writeJsonLine } from '../output/json.ts';
import { type Delivery, startReceiver } from '../webhooks/receiver.ts';
import { readSecret, readSecretFile } from './secrets.ts';
import { untilAborted } from './signals.ts';
import type { Surroundings } from './surroundings.ts';

interface ListenFlags {
  port: number;
  host: string;
  path: string;
  'secret-file'?: string[] | undefined;
  'signature-header': string;
  events?: string | undefined;
  verify: boolean;
}

/** Receives webhooks until a signal comes; each is shown before it is answered. */
export async function listenUntilStopped(flags: ListenFlags, around: Surroundings): Promise<void> {
  if (!flags.path.startsWith('/')) throw new UsageError(`--path "${flags.path}" must start with a slash.`);
  const events = readEvents(flags.events);
  const secrets = flags.verify ? await readSecrets(flags['secret-file'], around) : [];
  const count = { received: 0, verified: 0, refused: 0, duplicates: 0 };
  const receiver = await startReceiver({
    host: flags.host,
    port: flags.port,
    path: flags.path,
    signatureHeader: flags['signature-header'].toLowerCase(),
    secrets,
    verify: flags.verify,
    clock: around.clock,
    onDelivery: async (delivery) => {
      count.received++;
      count.verified += Number(delivery.verified);
      count.refused += Number(delivery.reason !== null);
      count.duplicates += Number(delivery.duplicate);
      if (events === undefined || delivery.reason !== null || events.has(delivery.facts?.event ?? '')) {
        await writeDelivery(delivery, around);
      }
    },
  });
  await announce(receiver.url, flags, around);
  await untilAborted(around.signal);
  await receiver.close();
  if (around.json) return writeJsonLine({ type: 'summary', ...count }, around.terminal);
  around.notice(`Stopped. ${count.received} received, ${count.verified} verified, ${count.refused} refused.`);
}

async function announce(url: string, flags: ListenFlags, around: Surroundings): Promise<void> {
  if (around.json) {
    await writeJsonLine({ type: 'ready', url, verify: flags.verify }, around.terminal);
    if (!flags.verify)
      await writeJsonLine({ type: 'warning', message: 'Signatures are not checked.' }, around.terminal);
    return;
  }
  around.notice(`Listening at ${url}. Give it as --webhook-url when you create an envelope. Ctrl-C stops.`);
  if (!flags.verify)
    around.notice('Signatures are not checked: anyone who reaches this address can make up events.');
}

function writeDelivery(delivery: Delivery, around: Surroundings): Promise<void> {
  return around.json
    ? writeJsonLine(deliveryLine(delivery), around.terminal)
    : around.terminal.out(renderDelivery(delivery, around.terminal));
}

async function readSecrets(files: readonly string[] | undefined, around: Surroundings): Promise<string[]> {
  const secrets = await Promise.all((files ?? []).map((file) => readSecretFile(file, 'webhook secret')));
  if (process.env.ESIGN_WEBHOOK_SECRET) secrets.push(process.env.ESIGN_WEBHOOK_SECRET);
  if (secrets.length === 0) {
    const hint =
      'Give --secret-file FILE or ESIGN_WEBHOOK_SECRET, or --no-verify to take everything unchecked.';
    secrets.push(await readSecret({ what: 'webhook secret', hint }, around));
  }
  for (const secret of secrets) {
    if (secret === '') throw new UsageError('A webhook secret is empty.');
    around.redactor.add(secret);
  }
  return secrets;
}

function readEvents(text: string | undefined): Set<string> | undefined {
  if (text === undefined) return undefined;
  const names = text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .map((name) => (name.includes('.') ? name : `envelope.${name}`));
  for (const name of names) {
    if (EVENTS.some((known) => known === name)) continue;
    const meant = nearest(name, EVENTS);
    throw new UsageError(`There is no event "${name}".`, {
      hint: `${meant ? `Did you mean ${meant}? ` : ''}The events are ${EVENTS.join(', ')}.`,
    });
  }
  return new Set(names);
}
