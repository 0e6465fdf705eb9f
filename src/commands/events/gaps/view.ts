import type { ListView } from '../../../output/list.ts';
import { relativeTime } from '../../../output/time.ts';
import type { Gap } from '../../../webhooks/journal/gaps.ts';

/** Returns the list of differences between the journal and the API. */
export function gapList(now: number): ListView<Gap> {
  return {
    id: (one) => one.envelopeId,
    empty: 'No gaps. Every change was received as an event, and all events agree with the API.',
    columns: [
      { key: 'kind', header: 'GAP', value: (one) => one.kind, fixed: true },
      { key: 'envelopeId', header: 'ENVELOPE', value: (one) => one.envelopeId, fixed: true },
      { key: 'event', header: 'EVENT', value: (one) => one.event, fixed: true },
      {
        key: 'at',
        header: 'WHEN',
        value: (one) => one.at ?? '',
        show: (one) => relativeTime(one.at, now),
        fixed: true,
      },
      { key: 'status', header: 'STATUS', value: (one) => one.status ?? '', fixed: true },
      { key: 'signer', header: 'SIGNER', value: (one) => one.signer ?? '' },
      { key: 'why', header: 'WHY', value: (one) => one.why },
    ],
  };
}
