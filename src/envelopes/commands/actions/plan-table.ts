import type { CommandTerminal } from '../../../cli/terminal.ts';
import { listed } from '../../../kernel/duration.ts';
import { hasSigned } from '../../../kernel/statuses.ts';
import { nameOf } from '../../../kernel/text/person.ts';
import { renderTable, type TableColumn } from '../../../output/table.ts';
import { safeLine } from '../../../output/text.ts';
import type { ExecutablePlan } from '../../plan-writes.ts';

interface PlanRow {
  people: string;
  subject: string;
  id: string;
}

/** Whom it concerns comes first and is never cut: it decides whether the answer is yes. */
const COLUMNS: readonly TableColumn<PlanRow>[] = [
  { key: 'people', header: 'FOR', wraps: true, least: 28 },
  { key: 'subject', least: 11, cutsCommonStart: true },
  { key: 'id', header: 'ENVELOPE', fixed: true },
];

/** Renders who has to sign each envelope, its subject, and its ID, without secrets. */
export function renderPlans(plans: readonly ExecutablePlan[], terminal: CommandTerminal): string {
  const rows = plans.map(({ id, envelope }) => {
    const waiting = (envelope?.signers ?? []).filter((one) => !hasSigned(one));
    return {
      people: redactedLine(listed(waiting.map(nameOf)), terminal),
      subject: redactedLine(envelope?.subject || envelope?.templateName || '', terminal),
      id: redactedLine(id, terminal),
    };
  });
  return renderTable(rows, COLUMNS, terminal);
}

/** Redacts a text before it is truncated, because a part of a secret would not be recognized. */
export function redactedLine(text: string, { redactor }: Pick<CommandTerminal, 'redactor'>): string {
  return safeLine(redactor.redact(text));
}
