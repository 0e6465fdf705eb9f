import { type BuiltInTemplate, builtIn, COLUMN, field, PAGE, signatureBlock } from './design.ts';

const LANDLORD = 'Landlord';
const TENANT = 'Tenant';

/** Two roles over four pages, with initials on the way. */
export const lease: BuiltInTemplate = builtIn(
  {
    id: 'tmpl_lease',
    name: 'Residential lease',
    description: 'A lease of a furnished or unfurnished home on four pages. Two roles: Landlord, Tenant.',
    roles: [LANDLORD, TENANT],
  },
  [
    [
      {
        top: PAGE.top,
        bottom: 226,
        blocks: [
          {
            kind: 'title',
            text: 'Residential lease',
            subtitle: 'Between the Landlord and the Tenant named in the particulars',
          },
          {
            kind: 'paragraph',
            text: 'The Landlord lets the home described below to the Tenant, and the Tenant takes it, for the term and at the rent stated in the particulars and on the conditions that follow. The particulars, the conditions and the inventory handed over with the keys together form the whole of the agreement.',
          },
          { kind: 'heading', text: 'Particulars' },
          {
            kind: 'note',
            text: 'The Landlord completes the left column and the terms of payment; the Tenant completes the right one.',
          },
        ],
      },
      {
        top: 468,
        bottom: PAGE.bottom,
        blocks: [
          { kind: 'heading', text: '1  The home' },
          {
            kind: 'clause',
            number: '1.1',
            text: 'The home consists of the rooms at the address above together with the fixtures, fittings and furniture listed in the inventory. Shared parts of the building may be used in common with the other occupants.',
          },
          {
            kind: 'clause',
            number: '1.2',
            text: 'The Tenant has received the keys listed in the inventory. Further keys may be cut only with the Landlord’s consent and are handed over without charge at the end of the term.',
          },
          { kind: 'heading', text: '2  Term' },
          {
            kind: 'clause',
            number: '2.1',
            text: 'The term begins on the start date in the particulars. A fixed term ends without notice on its last day; an open-ended term ends when either party gives notice under condition 9.',
          },
          {
            kind: 'clause',
            number: '2.2',
            text: 'If the Tenant remains in the home after a fixed term with the Landlord’s agreement, the lease continues from month to month on the same conditions.',
          },
        ],
      },
    ],
    [
      {
        top: PAGE.top,
        bottom: 720,
        blocks: [
          { kind: 'heading', text: '3  Rent' },
          {
            kind: 'clause',
            number: '3.1',
            text: 'The rent is due in advance on the first working day of each month, by transfer to the account the Landlord has named in writing. For part of a month it is reckoned by the day.',
          },
          {
            kind: 'clause',
            number: '3.2',
            text: 'The rent may be increased once in any period of twelve months, by at least two months’ written notice and by no more than the change in the index of consumer prices since it was last fixed.',
          },
          {
            kind: 'clause',
            number: '3.3',
            text: 'Rent that is more than fourteen days late bears interest at three per cent a year above the central bank’s base rate until it is paid.',
          },
          { kind: 'heading', text: '4  Deposit' },
          {
            kind: 'clause',
            number: '4.1',
            text: 'The Tenant pays the deposit stated in the particulars before the keys are handed over. The Landlord places it in an authorised deposit scheme within thirty days and tells the Tenant which.',
          },
          {
            kind: 'clause',
            number: '4.2',
            text: 'At the end of the lease the Landlord may deduct from it only:',
          },
          { kind: 'clause', number: '(a)', depth: 1, text: 'rent and other sums that are due and unpaid;' },
          {
            kind: 'clause',
            number: '(b)',
            depth: 1,
            text: 'the reasonable cost of making good damage that goes beyond fair wear and tear; and',
          },
          {
            kind: 'clause',
            number: '(c)',
            depth: 1,
            text: 'the cost of replacing items in the inventory that are missing.',
          },
          {
            kind: 'clause',
            number: '4.3',
            text: 'The balance is returned within fourteen days of the day on which the keys are given back, with a list of any deductions.',
          },
          { kind: 'heading', text: '5  Outgoings' },
          {
            kind: 'clause',
            number: '5.1',
            text: 'The Tenant pays for gas, electricity, water, telephone and data used in the home and the local taxes that fall on its occupant. The Landlord pays the ground rent, the insurance of the building and the charges for its shared parts.',
          },
          { kind: 'heading', text: '6  Use of the home' },
          {
            kind: 'clause',
            number: '6.1',
            text: 'The home is let as a private residence. Work from home that disturbs nobody and brings no regular visitors is allowed; any other trade needs the Landlord’s consent.',
          },
          {
            kind: 'clause',
            number: '6.2',
            text: 'The Tenant shall not sublet or part with the home as a whole. Guests are welcome. A lodger or a pet needs the Landlord’s consent, which shall not be unreasonably refused.',
          },
          {
            kind: 'clause',
            number: '6.3',
            text: 'The Tenant shall keep noise between ten at night and seven in the morning to a level that does not disturb the neighbours.',
          },
        ],
      },
    ],
    [
      {
        top: PAGE.top,
        bottom: 720,
        blocks: [
          { kind: 'heading', text: '7  Repairs and access' },
          {
            kind: 'clause',
            number: '7.1',
            text: 'The Landlord keeps in repair the structure and outside of the building, the installations for heating, hot water, gas, electricity and drainage, and any appliance in the inventory.',
          },
          {
            kind: 'clause',
            number: '7.2',
            text: 'The Tenant keeps the inside clean and aired, replaces bulbs and batteries, and reports any defect without delay. Damage caused by the Tenant or by guests is made good at the Tenant’s cost.',
          },
          {
            kind: 'clause',
            number: '7.3',
            text: 'The Landlord may enter at a reasonable time and on at least twenty-four hours’ written notice to inspect, repair or show the home, and without notice only in an emergency.',
          },
          {
            kind: 'clause',
            number: '7.4',
            text: 'The Tenant may decorate in light colours and hang pictures, and shall not otherwise alter the home without consent in writing.',
          },
          { kind: 'heading', text: '8  Insurance and safety' },
          {
            kind: 'clause',
            number: '8.1',
            text: 'The Landlord insures the building. The Tenant’s own belongings are not covered by that insurance.',
          },
          {
            kind: 'clause',
            number: '8.2',
            text: 'The Landlord provides working smoke and carbon monoxide alarms at the start of the term. The Tenant tests them each month and does not disable them.',
          },
          { kind: 'heading', text: '9  Notice and end of the lease' },
          {
            kind: 'clause',
            number: '9.1',
            text: 'An open-ended or monthly lease may be ended by the Tenant on one month’s and by the Landlord on three months’ written notice, to the end of a month.',
          },
          {
            kind: 'clause',
            number: '9.2',
            text: 'The Landlord may end a fixed term early only if rent of two months or more is unpaid, or if the Tenant remains in serious breach after a written warning, and only by the procedure the law provides.',
          },
          {
            kind: 'clause',
            number: '9.3',
            text: 'On the last day the Tenant gives back the home cleared and clean, together with all keys. Both parties go through the inventory together and record the state of the home in writing.',
          },
          { kind: 'heading', text: '10  Personal data' },
          {
            kind: 'clause',
            number: '10.1',
            text: 'The Landlord uses the Tenant’s data only to manage the lease, passes it on only to those who help with that or where the law requires it, and deletes it six years after the end of the lease.',
          },
        ],
      },
    ],
    [
      {
        top: PAGE.top,
        bottom: 304,
        blocks: [
          { kind: 'heading', text: '11  General' },
          {
            kind: 'clause',
            number: '11.1',
            text: 'Notices are given in writing, by letter or by electronic mail to the addresses the parties have exchanged. A notice by electronic mail counts as received on the next working day.',
          },
          {
            kind: 'clause',
            number: '11.2',
            text: 'Where several people sign as Tenant, each is answerable for the whole of the Tenant’s duties, and a notice to one is a notice to all.',
          },
          {
            kind: 'clause',
            number: '11.3',
            text: 'Changes to this lease are valid only in writing. If a condition is void, the others stand, and the law fills the gap.',
          },
          {
            kind: 'clause',
            number: '11.4',
            text: 'The law of the place where the home lies applies. Nothing in this lease takes away a right which that law gives the Tenant and which cannot be waived.',
          },
          { kind: 'heading', text: 'Acknowledgements' },
          {
            kind: 'paragraph',
            text: 'By signing, each party confirms that it has read all four pages, has received the inventory and the energy certificate of the home, and agrees to the conditions above.',
          },
        ],
      },
      {
        top: 350,
        bottom: 380,
        width: COLUMN.width,
        blocks: [{ kind: 'heading', text: 'The Landlord' }],
      },
      {
        top: 350,
        bottom: 380,
        x: COLUMN.second,
        width: COLUMN.width,
        blocks: [{ kind: 'heading', text: 'The Tenant' }],
      },
    ],
  ],
  [
    field(LANDLORD, 'lease_landlord', 'TEXT', 'Landlord (name and address)', {
      page: 1,
      x: PAGE.left,
      y: 244,
      height: 40,
    }),
    field(LANDLORD, 'lease_address', 'TEXT', 'Address of the home', {
      page: 1,
      x: PAGE.left,
      y: 304,
      height: 40,
    }),
    field(LANDLORD, 'lease_start', 'DATE', 'Start date', { page: 1, x: PAGE.left, y: 364 }),
    field(LANDLORD, 'lease_term', 'DROPDOWN', 'Term', {
      page: 1,
      x: PAGE.left + 118,
      y: 364,
      width: 104,
      options: ['12 months', '24 months', 'Open-ended'],
    }),
    field(LANDLORD, 'lease_rent', 'TEXT', 'Rent per month', { page: 1, x: PAGE.left, y: 406, width: 104 }),
    field(LANDLORD, 'lease_deposit', 'TEXT', 'Deposit', { page: 1, x: PAGE.left + 118, y: 406, width: 104 }),
    field(LANDLORD, 'lease_furnished', 'CHECKBOX', 'The home is let furnished', {
      page: 1,
      x: PAGE.left,
      y: 444,
      optional: true,
    }),
    field(TENANT, 'lease_tenant', 'TEXT', 'Tenant (name and present address)', {
      page: 1,
      x: COLUMN.second,
      y: 244,
      height: 40,
    }),
    field(TENANT, 'lease_occupants', 'TEXT', 'Others who will live in the home', {
      page: 1,
      x: COLUMN.second,
      y: 304,
      height: 40,
      optional: true,
    }),
    field(TENANT, 'lease_phone', 'TEXT', 'Telephone', { page: 1, x: COLUMN.second, y: 364, optional: true }),
    field(LANDLORD, 'lease_landlord_initials_2', 'INITIALS', 'Landlord’s initials', {
      page: 2,
      x: 387,
      y: 744,
    }),
    field(TENANT, 'lease_tenant_initials_2', 'INITIALS', 'Tenant’s initials', { page: 2, x: 467, y: 744 }),
    field(LANDLORD, 'lease_landlord_initials_3', 'INITIALS', 'Landlord’s initials', {
      page: 3,
      x: 387,
      y: 744,
    }),
    field(TENANT, 'lease_tenant_initials_3', 'INITIALS', 'Tenant’s initials', { page: 3, x: 467, y: 744 }),
    field(
      TENANT,
      'lease_inventory',
      'CHECKBOX',
      'The Tenant has received the inventory and the energy certificate',
      {
        page: 4,
        x: PAGE.left,
        y: 314,
      },
    ),
    ...signatureBlock(LANDLORD, 'lease_landlord', { page: 4, x: PAGE.left, y: 400 }),
    ...signatureBlock(TENANT, 'lease_tenant', { page: 4, x: COLUMN.second, y: 400 }),
  ],
);
