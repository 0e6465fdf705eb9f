import type { Template } from '../../api/resource-types.ts';
import { sentRoles } from '../../catalog/template-roles.ts';
import type { ListView } from '../../output/print-list.ts';
import { relativeTime } from '../../output/time.ts';

/** The columns of a list. Roles are those that the service sends; `templates get` also infers them. */
export function templateList(now: () => number, search?: string): ListView<Template> {
  return {
    id: (one) => one.id,
    empty:
      search === undefined
        ? "No templates yet. Create one in the service's web dashboard."
        : `No templates match "${search}". To list all, run \`esign templates list\`.`,
    columns: [
      { key: 'id', fixed: true },
      { key: 'name' },
      { key: 'roles', value: (one) => sentRoles(one).join(', ') },
      { key: 'pageCount', header: 'PAGES' },
      {
        key: 'updatedAt',
        header: 'UPDATED',
        show: (one) => relativeTime(one.updatedAt, now()),
      },
    ],
  };
}
