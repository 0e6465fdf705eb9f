import * as Flags from '@oclif/core/flags';
import { durationFlag, sinceFlag, statusesFlag } from '../../cli/flags.ts';
import type { Selection } from '../../envelopes/select.ts';
import type { Moment } from '../../kernel/clock.ts';

/** Which envelopes are meant, wherever several can be. */
export const selectionFlags = {
  status: statusesFlag({
    description: 'only envelopes with one of these statuses',
    helpValue: 'A,B',
    helpGroup: 'FILTER',
  }),
  template: Flags.string({
    description: 'only envelopes of this template',
    helpValue: 'ID|NAME',
    helpGroup: 'FILTER',
  }),
  signer: Flags.string({
    description: 'only envelopes with a signer whose address or name contains this text',
    helpValue: 'EMAIL',
    helpGroup: 'FILTER',
  }),
  search: Flags.string({
    description:
      'only envelopes that match these word beginnings: ID, subject, signers, template, metadata values',
    helpValue: 'TEXT',
    helpGroup: 'FILTER',
  }),
  since: sinceFlag({
    description: 'only envelopes created since then',
    helpValue: '7d|DATE',
    helpGroup: 'FILTER',
  }),
  'older-than': sinceFlag({
    description: 'only envelopes created before then',
    helpValue: '14d|DATE',
    helpGroup: 'FILTER',
  }),
  'expiring-in': durationFlag({
    description: 'only SENT or IN_PROGRESS envelopes that expire within this time',
    helpValue: '3d',
    helpGroup: 'FILTER',
  }),
};

interface SelectionFlagValues {
  status?: string[] | undefined;
  template?: string | undefined;
  signer?: string | undefined;
  search?: string | undefined;
  since?: Moment | undefined;
  'older-than'?: Moment | undefined;
  'expiring-in'?: number | undefined;
}

/** The flags as a selection. */
export function selectionOf(flags: SelectionFlagValues): Selection {
  const { 'expiring-in': expiringIn } = flags;
  return {
    statuses: flags.status,
    templateId: flags.template,
    signer: flags.signer,
    search: flags.search,
    createdAfter: flags.since,
    createdBefore: flags['older-than'],
    expiresBefore: expiringIn === undefined ? undefined : (now) => now + expiringIn,
  };
}

/** True when anything is asked for. */
export function selects(selection: Selection): boolean {
  return Object.values(selection).some((value) => value !== undefined);
}
