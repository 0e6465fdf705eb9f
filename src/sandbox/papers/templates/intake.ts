import { type BuiltInTemplate, builtIn, COLUMN, field, PAGE } from './design.ts';

const ROLE = 'Patient';
const LEFT = PAGE.left;
const RIGHT = COLUMN.second;

/** One signer and every type of field. */
export const intake: BuiltInTemplate = builtIn(
  {
    id: 'tmpl_intake',
    name: 'Patient intake form',
    description: 'A form of two pages that has every type of field. One role: Patient.',
    roles: [ROLE],
  },
  [
    [
      {
        top: PAGE.top,
        bottom: 170,
        blocks: [
          {
            kind: 'title',
            text: 'Patient intake form',
            subtitle: 'Quayside Family Practice, 11 Quayside Row, Bristol',
          },
          {
            kind: 'paragraph',
            text: 'Welcome. Please complete this form before your first appointment. What you tell us is covered by medical confidentiality.',
          },
        ],
      },
      { top: 176, bottom: 206, blocks: [{ kind: 'heading', text: 'About you' }] },
      { top: 362, bottom: 392, blocks: [{ kind: 'heading', text: 'Your health' }] },
      { top: 630, bottom: 660, blocks: [{ kind: 'heading', text: 'In an emergency' }] },
    ],
    [
      {
        top: PAGE.top,
        bottom: 282,
        blocks: [
          { kind: 'heading', text: 'Treatment and your rights' },
          {
            kind: 'clause',
            number: '1',
            text: 'Before any examination or treatment we explain what it is for, what risks it carries and what else could be done. You may ask questions at any time, take time to decide, and withdraw your consent without giving a reason.',
          },
          {
            kind: 'clause',
            number: '2',
            text: 'We keep a record of your care for ten years after your last visit. You may see it, ask for a copy and have mistakes put right.',
          },
          {
            kind: 'clause',
            number: '3',
            text: 'We share your data with other clinicians only where your care requires it or the law obliges us to. With your consent we also send reports to the doctor who referred you.',
          },
          {
            kind: 'clause',
            number: '4',
            text: 'Please tell us at least twenty-four hours ahead if you cannot keep an appointment. We may charge a fee for appointments that are missed without notice.',
          },
          { kind: 'heading', text: 'Your consent' },
        ],
      },
      {
        top: 358,
        bottom: 408,
        blocks: [
          { kind: 'heading', text: 'Signature' },
          { kind: 'note', text: 'For a child under sixteen a parent or guardian signs.' },
        ],
      },
    ],
  ],
  [
    field(ROLE, 'intake_name', 'TEXT', 'Full name', { page: 1, x: LEFT, y: 224 }),
    field(ROLE, 'intake_birth', 'DATE', 'Date of birth', { page: 1, x: RIGHT, y: 224, optional: true }),
    field(ROLE, 'intake_insurance', 'DROPDOWN', 'Insurance', {
      page: 1,
      x: RIGHT + 118,
      y: 224,
      width: 104,
      options: ['Public', 'Private', 'Self-paying'],
    }),
    field(ROLE, 'intake_address', 'TEXT', 'Address', {
      page: 1,
      x: LEFT,
      y: 266,
      height: 40,
      optional: true,
    }),
    field(ROLE, 'intake_phone', 'TEXT', 'Telephone', { page: 1, x: RIGHT, y: 266, optional: true }),
    field(ROLE, 'intake_language', 'DROPDOWN', 'Preferred language', {
      page: 1,
      x: LEFT,
      y: 326,
      options: ['English', 'Polski', 'Ελληνικά', 'Українська', 'العربية', '中文'],
      optional: true,
    }),
    field(ROLE, 'intake_doctor', 'TEXT', 'Doctor who referred you', {
      page: 1,
      x: RIGHT,
      y: 326,
      optional: true,
    }),
    field(ROLE, 'intake_reason', 'TEXT', 'Reason for your visit', {
      page: 1,
      x: LEFT,
      y: 410,
      width: PAGE.width,
      height: 58,
      optional: true,
    }),
    field(ROLE, 'intake_medicines', 'TEXT', 'Medicines you take', {
      page: 1,
      x: LEFT,
      y: 488,
      height: 58,
      optional: true,
    }),
    field(ROLE, 'intake_allergies', 'TEXT', 'Allergies', {
      page: 1,
      x: RIGHT,
      y: 488,
      height: 58,
      optional: true,
    }),
    field(ROLE, 'intake_smoker', 'CHECKBOX', 'I smoke', { page: 1, x: LEFT, y: 562, optional: true }),
    field(ROLE, 'intake_pregnant', 'CHECKBOX', 'I am or may be pregnant', {
      page: 1,
      x: RIGHT,
      y: 562,
      optional: true,
    }),
    field(ROLE, 'intake_pacemaker', 'CHECKBOX', 'I have a pacemaker or another implant', {
      page: 1,
      x: LEFT,
      y: 584,
      optional: true,
    }),
    field(ROLE, 'intake_thinner', 'CHECKBOX', 'I take medicines that thin the blood', {
      page: 1,
      x: RIGHT,
      y: 584,
      optional: true,
    }),
    field(ROLE, 'intake_diabetes', 'CHECKBOX', 'I have diabetes', {
      page: 1,
      x: LEFT,
      y: 606,
      optional: true,
    }),
    field(ROLE, 'intake_contact', 'TEXT', 'Person to call', { page: 1, x: LEFT, y: 678, optional: true }),
    field(ROLE, 'intake_contact_phone', 'TEXT', 'Telephone of that person', {
      page: 1,
      x: RIGHT,
      y: 678,
      optional: true,
    }),
    field(ROLE, 'intake_initials', 'INITIALS', 'Initials', { page: 1, x: 467, y: 744 }),
    field(ROLE, 'intake_consent', 'CHECKBOX', 'I consent to examination and treatment on the terms above', {
      page: 2,
      x: LEFT,
      y: 290,
    }),
    field(ROLE, 'intake_reports', 'CHECKBOX', 'Reports may be sent to the doctor who referred me', {
      page: 2,
      x: LEFT,
      y: 312,
      optional: true,
    }),
    field(ROLE, 'intake_reminders', 'CHECKBOX', 'I wish to be reminded of appointments by text message', {
      page: 2,
      x: LEFT,
      y: 334,
      optional: true,
    }),
    field(ROLE, 'intake_signature', 'SIGNATURE', 'Signature', { page: 2, x: LEFT, y: 430 }),
    field(ROLE, 'intake_date', 'DATE', 'Date', { page: 2, x: RIGHT, y: 466 }),
  ],
);
