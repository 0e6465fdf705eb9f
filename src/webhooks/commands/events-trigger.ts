import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag, requiredArg, textFlag } from '../../cli/flags.ts';
import { readWebhookSecret } from '../../cli/input/secrets.ts';
import { EVENTS, SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { newDeliveryId } from '../receive/delivery.ts';
import { sign } from '../receive/signature.ts';
import { sampleBody } from '../sample.ts';
import { parseEventName } from './event-flags.ts';
import { sendAll, showDeliveries, targetUrl } from './send-to-receiver.ts';

export default class EventsTrigger extends EsignCommand {
  static override summary = 'Send a test webhook to a URL, signed as the service would sign it.';
  static override description =
    `The events are ${EVENTS.join(', ')}; "envelope." can be left out. The envelope and the people in it are made up. Without a secret, the webhook is sent unsigned.`;
  static override examples = [
    '<%= config.bin %> events trigger declined --to http://127.0.0.1:4242/webhooks',
    '<%= config.bin %> events trigger envelope.completed --to http://localhost:3000/webhooks --secret-file webhook.secret',
    '<%= config.bin %> events trigger signed --to http://localhost:3000/webhooks --json',
  ];
  static override args = {
    event: requiredArg('event to send'),
  };
  static override flags = {
    to: Flags.string({ description: 'URL to send it to', required: true, helpValue: 'URL' }),
    'secret-file': textFlag('FILE', 'file with the webhook secret (or set ESIGN_WEBHOOK_SECRET)'),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(EventsTrigger);
    const event = parseEventName(args.event);
    const url = targetUrl(flags.to);
    const secret = await readWebhookSecret(flags['secret-file'], context.terminal);
    const body = sampleBody(event, { now: context.session.clock.now() });
    const raw = Buffer.from(JSON.stringify(body));
    const signature: [string, string][] = secret === undefined ? [] : [[SIGNATURE_HEADER, sign(raw, secret)]];
    const headers: [string, string][] = [['Content-Type', 'application/json'], ...signature];
    const deliveryId = newDeliveryId();
    const delivery = { deliveryId, event, envelopeId: body.data.envelopeId, headers, raw };
    if (flags['dry-run']) return showDeliveries([delivery], url, context.terminal);
    await sendAll([delivery], url, context);
  }
}
