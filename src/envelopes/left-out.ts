import type { Envelope } from '../api/resource-types.ts';
import { replacedBy, requestIdOf } from '../catalog/markers.ts';
import { findSigners } from '../catalog/named-signer.ts';
import { isInFlight, isVoid } from '../kernel/statuses.ts';
import { byPrecedence } from '../once/precedence.ts';

/** Why envelopes of a selection are left out of an action, by ID. */
type Reasons = Map<string, string>;

/** Returns those that can't be reminded; with a signer (ID or address), also those without this signer. */
export function notToRemind(envelopes: readonly Envelope[], signer: string | undefined): Reasons {
  return reasonsFor(envelopes, (one) => {
    if (!isInFlight(one.status)) return statusOf(one);
    const isOther = signer !== undefined && one.signers && findSigners(one, signer).length === 0;
    return isOther ? `without the signer ${signer}` : undefined;
  });
}

/** Returns those that can't be canceled, and those that were declined unless `evenIfDeclined`. */
export function notToCancel(envelopes: readonly Envelope[], evenIfDeclined: boolean): Reasons {
  return reasonsFor(envelopes, (one) => {
    const isOpen = isInFlight(one.status) || one.status === 'DRAFT';
    return isOpen || (evenIfDeclined && one.status === 'DECLINED') ? undefined : statusOf(one);
  });
}

/**
 * Returns those that are not drafts, and drafts that would email someone twice: the second draft of a request, which an interrupted
 * command leaves.
 */
export function notToSend(envelopes: readonly Envelope[]): Reasons {
  const counting = new Map<string, Envelope>();
  for (const one of envelopes.filter((each) => !isVoid(each)).toSorted(byPrecedence)) {
    const request = requestIdOf(one);
    if (request !== undefined && !counting.has(request)) counting.set(request, one);
  }
  return reasonsFor(envelopes, (one) => {
    if (one.status !== 'DRAFT') return statusOf(one);
    const request = requestIdOf(one);
    return request !== undefined && counting.get(request) !== one ? 'second draft of a request' : undefined;
  });
}

/** Returns those that another envelope of the selection replaced: that one is watched. */
export function notToWatch(envelopes: readonly Envelope[]): Reasons {
  const sent = envelopes.filter((one) => one.status !== 'DRAFT' && !isVoid(one));
  const replaced = new Set(sent.map(replacedBy));
  return reasonsFor(envelopes, ({ id }) => (replaced.has(id) ? 'replaced' : undefined));
}

function reasonsFor(
  envelopes: readonly Envelope[],
  reasonOf: (envelope: Envelope) => string | undefined,
): Reasons {
  const reasons: Reasons = new Map();
  for (const one of envelopes) {
    const reason = reasonOf(one);
    if (reason !== undefined) reasons.set(one.id, reason);
  }
  return reasons;
}

function statusOf({ status }: Envelope): string {
  return status ?? 'without a status';
}
