import { type BuiltInTemplate, builtIn, COLUMN, field, PAGE, signatureBlock } from './design.ts';

const ROLE = 'Signer';

/** One signer: the usual first try, and the one to send to many people at once. */
export const nda: BuiltInTemplate = builtIn(
  {
    id: 'tmpl_nda',
    name: 'Confidentiality undertaking',
    description: 'A confidentiality undertaking on two pages. One role: Signer.',
    roles: [ROLE],
  },
  [
    [
      {
        top: PAGE.top,
        bottom: 760,
        blocks: [
          {
            kind: 'title',
            text: 'Confidentiality undertaking',
            subtitle: 'Given to Alder & Finch Ltd, 4 Quayside Row, Bristol, by the person who signs below',
          },
          { kind: 'heading', text: 'Background' },
          {
            kind: 'paragraph',
            text: 'Alder & Finch Ltd (the “Company”) and the person named at the end of this document (the “Recipient”) wish to talk about a possible business relationship (the “Purpose”). In the course of those talks each may show the other information that is not public. This undertaking sets out how such information is to be treated. It binds both from the moment the Recipient signs, and what is said here of one applies to the other in the same way.',
          },
          { kind: 'heading', text: '1  Confidential information' },
          {
            kind: 'clause',
            number: '1.1',
            text: '“Confidential Information” means all information, in any form, that one party makes available to the other for the Purpose and that is marked as confidential or that a reasonable person would understand to be so, including business plans, prices, customer lists, designs, source code, samples and test results.',
          },
          {
            kind: 'clause',
            number: '1.2',
            text: 'It does not include information which the receiving party can show:',
          },
          {
            kind: 'clause',
            number: '(a)',
            depth: 1,
            text: 'was lawfully known to it before it was disclosed;',
          },
          {
            kind: 'clause',
            number: '(b)',
            depth: 1,
            text: 'is or becomes public other than by a breach of this undertaking;',
          },
          {
            kind: 'clause',
            number: '(c)',
            depth: 1,
            text: 'was given to it by a third party who was free to do so; or',
          },
          {
            kind: 'clause',
            number: '(d)',
            depth: 1,
            text: 'was developed by it independently, without use of what was disclosed.',
          },
          { kind: 'heading', text: '2  Use and care' },
          {
            kind: 'clause',
            number: '2.1',
            text: 'The receiving party shall use Confidential Information for the Purpose only, shall keep it secret, and shall protect it with at least the care that it takes of its own information of a like kind, and never with less than reasonable care.',
          },
          {
            kind: 'clause',
            number: '2.2',
            text: 'It may share Confidential Information with those of its employees and advisers who need it for the Purpose, provided that they are bound by duties no less strict than these. It answers for their conduct as for its own.',
          },
          {
            kind: 'clause',
            number: '2.3',
            text: 'It shall not copy, take apart or analyse any sample, prototype or software that it receives, except as far as the Purpose requires it or the law allows it in any event.',
          },
          { kind: 'heading', text: '3  Disclosure required by law' },
          {
            kind: 'clause',
            number: '3.1',
            text: 'Where a court or authority orders disclosure, the receiving party may comply. Where it lawfully can, it shall first give notice so that the other party may seek protection, and it shall disclose no more than it must.',
          },
        ],
      },
    ],
    [
      {
        top: PAGE.top,
        bottom: 450,
        blocks: [
          { kind: 'heading', text: '4  Return and destruction' },
          {
            kind: 'clause',
            number: '4.1',
            text: 'Within fourteen days of a written request, the receiving party shall return or destroy all Confidential Information in its possession and confirm in writing that it has done so. It may keep one copy as far as the law requires, and back-up copies made in the ordinary course, for as long as they remain under this undertaking.',
          },
          { kind: 'heading', text: '5  Term' },
          {
            kind: 'clause',
            number: '5.1',
            text: 'These duties begin on the date of signature and last for three years. For information that is a trade secret they last for as long as it remains one.',
          },
          { kind: 'heading', text: '6  No further rights' },
          {
            kind: 'clause',
            number: '6.1',
            text: 'All Confidential Information remains the property of the party that disclosed it. Nothing here grants a licence, obliges either party to disclose anything, or obliges either to enter into any further agreement.',
          },
          {
            kind: 'clause',
            number: '6.2',
            text: 'Information is given as it is. Neither party warrants that it is complete or free of errors.',
          },
          { kind: 'heading', text: '7  General' },
          {
            kind: 'clause',
            number: '7.1',
            text: 'Each party acknowledges that damages alone may not be an adequate remedy for a breach and that the other may ask a court for an order to prevent or end one.',
          },
          {
            kind: 'clause',
            number: '7.2',
            text: 'Changes to this undertaking must be made in writing. If any part of it is invalid, the rest remains in force. It is governed by the laws of England and Wales, whose courts have exclusive jurisdiction.',
          },
        ],
      },
      {
        top: 462,
        bottom: 510,
        blocks: [
          { kind: 'heading', text: 'Signed by the Recipient' },
          { kind: 'note', text: 'The Recipient has read this undertaking and agrees to be bound by it.' },
        ],
      },
    ],
  ],
  [
    ...signatureBlock(ROLE, 'nda', { page: 2, x: PAGE.left, y: 530 }),
    field(ROLE, 'nda_company', 'TEXT', 'Company', { page: 2, x: COLUMN.second, y: 530, optional: true }),
    field(ROLE, 'nda_title', 'TEXT', 'Position', { page: 2, x: COLUMN.second, y: 566, optional: true }),
  ],
);
