import { grouped } from '../../kernel/duration.ts';
import type { ListView } from '../../output/print-list.ts';
import type { TableColumn } from '../../output/table.ts';
import { safeLine } from '../../output/text.ts';
import type { GroupBy } from '../groups.ts';
import type { GroupFigures } from '../summarize.ts';
import type { DurationSpread } from '../tally.ts';
import { durationText, percentText } from './figure-text.ts';

export function figuresList(by: GroupBy | undefined): ListView<GroupFigures> {
  return { id: ({ key }) => key ?? '', columns: columnsBy(by) };
}

/** Returns the columns of a table of groups. */
export function columnsBy(by: GroupBy | undefined): TableColumn<GroupFigures>[] {
  const count = (key: CountKey, header: string): TableColumn<GroupFigures> => ({
    key,
    header,
    show: (group) => grouped(group[key]),
    fixed: true,
  });
  const time = (
    header: string,
    of: 'toComplete' | 'turn',
    key: keyof DurationSpread,
  ): TableColumn<GroupFigures> => ({
    key: `${of}.${key}`,
    header,
    show: (group) => durationText(group[of][key]),
    fixed: true,
    exactOnly: of === 'turn',
  });
  return [
    { key: 'key', exactOnly: true },
    { key: 'name', header: headerOf(by), show: ({ name }) => name ?? '(none)' },
    count('sent', 'SENT'),
    {
      key: 'completionRate',
      header: 'RATE',
      show: ({ completionRate }) => percentText(completionRate),
      fixed: true,
    },
    time('MEDIAN', 'toComplete', 'medianMs'),
    time('85%', 'toComplete', 'p85Ms'),
    time('95%', 'toComplete', 'p95Ms'),
    count('completed', 'DONE'),
    count('declined', 'DECLINED'),
    count('expired', 'EXPIRED'),
    count('cancelled', 'CANCELED'),
    count('open', 'OPEN'),
    time('TURN', 'turn', 'medianMs'),
    time('TURN 85%', 'turn', 'p85Ms'),
    time('TURN 95%', 'turn', 'p95Ms'),
    { ...count('sentThisMonth', 'THIS MONTH'), exactOnly: true },
  ];
}

type CountKey = 'sent' | 'completed' | 'declined' | 'expired' | 'cancelled' | 'open' | 'sentThisMonth';

function headerOf(by: GroupBy | undefined): string {
  if (by === undefined) return 'GROUP';
  return by.kind === 'meta' ? safeLine(by.metadataKey).toUpperCase() : by.kind.toUpperCase();
}
