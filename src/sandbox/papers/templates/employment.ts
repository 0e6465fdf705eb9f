import { type BuiltInTemplate, builtIn, COLUMN, field, PAGE, signatureBlock } from './design.ts';

const EMPLOYEE = 'Employee';
const MANAGER = 'Manager';
const HR = 'HR';

/** Three roles that sign one after the other. */
export const employment: BuiltInTemplate = builtIn(
  {
    id: 'tmpl_employment',
    name: 'Employment offer',
    description:
      'An offer of employment on three pages. Three roles: Employee, Manager, HR; use with SEQUENTIAL signing order.',
    roles: [EMPLOYEE, MANAGER, HR],
  },
  [
    [
      {
        top: PAGE.top,
        bottom: 242,
        blocks: [
          {
            kind: 'title',
            text: 'Offer of employment',
            subtitle: 'Alder & Finch Ltd, 4 Quayside Row, Bristol',
          },
          {
            kind: 'paragraph',
            text: 'We are glad to offer you employment with Alder & Finch Ltd (the “Company”) on the terms set out in this letter. Please read it with care, ask us about anything that is not clear, and sign on the last page. The offer becomes a contract once you, your manager and the people team have signed it in this order.',
          },
          { kind: 'heading', text: 'Your details' },
          { kind: 'note', text: 'Please give your name as it stands in your identity document.' },
        ],
      },
      {
        top: 356,
        bottom: PAGE.bottom,
        blocks: [
          { kind: 'heading', text: '1  Position' },
          {
            kind: 'clause',
            number: '1.1',
            text: 'You are employed in the position agreed at your interview and described in the job description you have received. You report to the manager who signs this letter.',
          },
          {
            kind: 'clause',
            number: '1.2',
            text: 'The Company may ask you to take on other reasonable duties that fit your skills and grade. A lasting change of position needs your consent.',
          },
          { kind: 'heading', text: '2  Place and hours of work' },
          {
            kind: 'clause',
            number: '2.1',
            text: 'Your usual place of work is the office named above. You may work from home on up to three days a week by arrangement with your manager.',
          },
          {
            kind: 'clause',
            number: '2.2',
            text: 'Full-time work is thirty-seven and a half hours a week, from Monday to Friday, with an unpaid break of half an hour each day. The start and end of the day are for you to choose between seven and nineteen o’clock, as far as the work of your team allows.',
          },
          {
            kind: 'clause',
            number: '2.3',
            text: 'Overtime is worked only at your manager’s request. It is made up for by time off within three months or, where that is not possible, paid at your ordinary rate.',
          },
        ],
      },
    ],
    [
      {
        top: PAGE.top,
        bottom: 716,
        blocks: [
          { kind: 'heading', text: '3  Pay and benefits' },
          {
            kind: 'clause',
            number: '3.1',
            text: 'Your annual salary is stated in the offer summary sent with this letter. It is paid in twelve equal parts on the twenty-fifth of each month, less tax and social contributions, to the account you name.',
          },
          {
            kind: 'clause',
            number: '3.2',
            text: 'Salaries are reviewed each year in March. A review does not promise an increase.',
          },
          {
            kind: 'clause',
            number: '3.3',
            text: 'You join the Company’s pension scheme from your first day unless you opt out in writing. The Company pays expenses that you incur for your work within its travel rules, against receipts.',
          },
          { kind: 'heading', text: '4  Leave' },
          {
            kind: 'clause',
            number: '4.1',
            text: 'You have twenty-eight days of paid leave in each calendar year in addition to public holidays. Leave is agreed with your manager; up to five days may be carried into the next year.',
          },
          {
            kind: 'clause',
            number: '4.2',
            text: 'If you are ill, please let your manager know before your working day begins and send a doctor’s note from the fourth day. The Company pays your full salary for up to thirty days of illness in any twelve months.',
          },
          { kind: 'heading', text: '5  Probation and notice' },
          {
            kind: 'clause',
            number: '5.1',
            text: 'The first six months are a period of probation during which either side may end the employment on two weeks’ notice.',
          },
          {
            kind: 'clause',
            number: '5.2',
            text: 'After that the period of notice is two months to the end of a calendar month, for both sides. Notice must be given in writing.',
          },
          {
            kind: 'clause',
            number: '5.3',
            text: 'During notice the Company may release you from work on full pay. Either side may end the employment at once for a serious breach of its terms.',
          },
          { kind: 'heading', text: '6  Confidentiality and inventions' },
          {
            kind: 'clause',
            number: '6.1',
            text: 'During and after your employment you keep the Company’s business secrets, and those of its customers, to yourself. The law’s protection of people who report wrongdoing is not affected.',
          },
          {
            kind: 'clause',
            number: '6.2',
            text: 'What you create in the course of your work belongs to the Company. What you create in your own time, with your own means and outside the Company’s field of business, belongs to you.',
          },
        ],
      },
    ],
    [
      {
        top: PAGE.top,
        bottom: 292,
        blocks: [
          { kind: 'heading', text: '7  Other work and personal data' },
          {
            kind: 'clause',
            number: '7.1',
            text: 'You may take on other paid work if it does not compete with the Company and leaves you enough rest. Please tell the people team before you begin.',
          },
          {
            kind: 'clause',
            number: '7.2',
            text: 'The Company processes your data as its privacy notice for staff describes, and keeps your personnel file for six years after you leave.',
          },
          { kind: 'heading', text: '8  Conditions of this offer' },
          {
            kind: 'clause',
            number: '8.1',
            text: 'The offer depends on proof of your right to work, and lapses if you have not signed it within thirty days. Changes to these terms are made in writing. The laws of England and Wales apply.',
          },
          { kind: 'heading', text: 'Signatures' },
          { kind: 'note', text: 'To be signed in this order: Employee, Manager, HR.' },
        ],
      },
      {
        top: 306,
        bottom: 336,
        width: COLUMN.width,
        blocks: [{ kind: 'heading', text: 'Employee' }],
      },
      {
        top: 306,
        bottom: 336,
        x: COLUMN.second,
        width: COLUMN.width,
        blocks: [{ kind: 'heading', text: 'Manager' }],
      },
      {
        top: 476,
        bottom: 506,
        width: COLUMN.width,
        blocks: [{ kind: 'heading', text: 'HR' }],
      },
    ],
  ],
  [
    field(EMPLOYEE, 'offer_name', 'TEXT', 'Full name', { page: 1, x: PAGE.left, y: 262 }),
    field(EMPLOYEE, 'offer_birth', 'TEXT', 'Date of birth', {
      page: 1,
      x: COLUMN.second,
      y: 262,
      width: 104,
      optional: true,
    }),
    field(EMPLOYEE, 'offer_address', 'TEXT', 'Address', {
      page: 1,
      x: PAGE.left,
      y: 304,
      height: 40,
      optional: true,
    }),
    field(EMPLOYEE, 'offer_start', 'TEXT', 'First day of work', {
      page: 1,
      x: COLUMN.second,
      y: 304,
      width: 104,
      optional: true,
    }),
    field(EMPLOYEE, 'offer_hours', 'DROPDOWN', 'Hours', {
      page: 1,
      x: COLUMN.second + 118,
      y: 304,
      width: 104,
      options: ['Full time', 'Four days', 'Half time'],
    }),
    field(EMPLOYEE, 'offer_initials', 'INITIALS', 'Employee’s initials', { page: 2, x: 467, y: 744 }),
    ...signatureBlock(EMPLOYEE, 'offer_employee', { page: 3, x: PAGE.left, y: 356 }),
    ...signatureBlock(MANAGER, 'offer_manager', { page: 3, x: COLUMN.second, y: 356 }),
    ...signatureBlock(HR, 'offer_hr', { page: 3, x: PAGE.left, y: 526 }),
    field(HR, 'offer_checked', 'CHECKBOX', 'The right to work has been checked', {
      page: 3,
      x: COLUMN.second,
      y: 528,
      optional: true,
    }),
    field(HR, 'offer_reference', 'TEXT', 'Personnel number', {
      page: 3,
      x: COLUMN.second,
      y: 604,
      width: 104,
      optional: true,
    }),
  ],
);
