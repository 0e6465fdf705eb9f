import { describe, expect, it } from 'vitest';
import { unusedColumns } from '../../src/bulk/rows/columns.ts';
import { check, problems } from './check-text.ts';

const signersOf = async (text: string) => (await check(text)).rows.map(({ envelope }) => envelope.signers);

describe('headers as people write them', () => {
  it.each([
    ['Mail', 'Full name'],
    ['E-mail *', 'Display Name'],
    ['Email address', 'First and last name'],
    ['E-Mail-Adresse', 'Vor- und Nachname'],
    ['Mailadresse', 'Vollständiger Name'],
    ['Adresse électronique', 'Nom et prénom'],
    ['COURRIEL', 'Nom'],
    ['Correo electrónico', 'Nombre y apellidos'],
    ['Dirección de correo', 'Nombre'],
    ['Signer1 E-mail', 'Signer 1 name'],
    ['Unterzeichner 1 E-Mail', 'Unterzeichner 1 Name'],
    ['E-mail du signataire 1', 'Nom du signataire 1'],
    ['Correo del firmante', 'Nombre del firmante'],
  ])('are understood: %s, %s', async (email, name) => {
    expect(await signersOf(`${email},${name}\na@b.c,Ada\n`)).toEqual([[{ email: 'a@b.c', name: 'Ada' }]]);
  });

  it.each([
    ['First name,Last name', 'Ada,Lovelace', 'Ada Lovelace'],
    ['Surname,Given name', 'Lovelace,Ada', 'Ada Lovelace'],
    ['Vorname,Nachname', 'Ada,Müller', 'Ada Müller'],
    ['Name,Vorname', 'Müller,Ada', 'Ada Müller'],
    ['Nom,Prénom', 'Lefèvre,Ada', 'Ada Lefèvre'],
    ['Nombre,Apellidos', 'Ada,Núñez Gil', 'Ada Núñez Gil'],
    ['Nombre,Primer apellido,Segundo apellido', 'Ada,Núñez,Gil', 'Ada Núñez Gil'],
    ['Name,First name', 'Ada Lovelace,Ada', 'Ada Lovelace'],
    ['Name,Nachname', '"Müller, Ada",Müller', 'Müller, Ada'],
    ['Name,Vorname', 'Thomas,Thomas', 'Thomas Thomas'],
    ['Full name,First name,Last name', 'Ada King,Ada,Lovelace', 'Ada King'],
    ['First name,Last name', 'Ada,', 'Ada'],
  ])('put a name together from %s: %s', async (header, cells, name) => {
    expect(await signersOf(`E-Mail,${header}\na@b.c,${cells}\n`)).toEqual([[{ email: 'a@b.c', name }]]);
  });

  it('put together the names of several signers', async () => {
    const header = 'Signer 1 email,Signer 1 first name,Signer 1 last name,Signer 2 email,Signer 2 name';
    expect(await signersOf(`${header}\na@b.c,Ada,Lovelace,b@b.c,Bo\n`)).toEqual([
      [
        { email: 'a@b.c', name: 'Ada Lovelace' },
        { email: 'b@b.c', name: 'Bo' },
      ],
    ]);
  });

  it('are also recognized for the other fields', async () => {
    const { rows } = await check(
      'E-Mail,Rolle,Reihenfolge,Betreff,Nachricht,Frist in Tagen\na@b.c,Mieter,2,Vertrag,Bitte,14\n',
    );
    expect(rows[0]?.envelope).toMatchObject({
      signers: [{ role: 'Mieter', order: 2 }],
      ...{ subject: 'Vertrag', message: 'Bitte', expiresInDays: 14 },
    });
  });

  it('are reported if they are probably mistyped, also in other languages', async () => {
    expect(await problems('E-Mail-Adrese,Vornme,Nachnahme\na@b.c,Ada,Müller\n')).toEqual([
      '1 E-Mail-Adrese: unknown column; did you mean E-Mail-Adresse?',
      '1 Vornme: unknown column; did you mean Vorname?',
      '1 Nachnahme: unknown column; did you mean Nachname?',
    ]);
  });

  it.each(['Object', 'Titel', 'Notes', 'Email 2', 'Funktion', 'Modèle', 'Apellido 3'])(
    'ignore %s',
    async (header) => {
      const { report } = await check(`email,name,${header}\na@b.c,Ada,x\n`);
      expect([report.problems.count, unusedColumns(report.columns)]).toEqual([0, [header]]);
    },
  );

  it('are listed if none is for the address, with the column that has addresses', async () => {
    expect(await problems('Name,Kontakt,Ort\nAda,a@b.c,Ulm\n')).toEqual([
      '1 : no column is named email; rename Kontakt, which contains email addresses, to email. The columns are Name, Kontakt, Ort',
    ]);
    expect(await problems('Name,Ort\n')).toEqual([
      '1 : no column is named email; name one email (or signer1_email). The columns are Name, Ort',
    ]);
  });
});

describe('a placeholder', () => {
  const subjectOf = async (header: string, cells: string, subject: string) => {
    const { rows, report } = await check(`${header}\n${cells}\n`, 7, { subject });
    const texts = report.problems.groups().map(({ text }) => text);
    return { subject: rows[0]?.envelope.subject, texts, unused: unusedColumns(report.columns) };
  };

  it.each([
    ['{Abteilung}', 'IT'],
    ['{ abteilung }', 'IT'],
    ['{lfd nr}', '7'],
    ['{Vorname}', 'Ada'],
    ['{first_name}', 'Ada'],
    ['{Name}', 'Müller'],
    ['{name}', 'Ada Müller'],
    ['{esign_Note}', 'n'],
    ['{meta.deal} {deal}', 'D1 D1'],
  ])('can name any column: %s', async (text, filled) => {
    const header = 'E-Mail,Name,Vorname,Abteilung,Lfd. Nr.,esign_Note,meta.deal';
    expect(await subjectOf(header, 'a@b.c,Müller,Ada,IT,7,n,D1', text)).toMatchObject({
      subject: filled,
      texts: [],
    });
  });

  it('makes a column a used one', async () => {
    expect(await subjectOf('email,Unit,Floor', 'a@b.c,IT,3', 'For {unit}')).toMatchObject({
      unused: ['Floor'],
    });
  });

  it('suggests the column that was meant', async () => {
    expect((await subjectOf('email,Abteilung', 'a@b.c,IT', 'For {Abteilng}')).texts).toEqual([
      '--subject: the file has no column for {Abteilng}; did you mean {Abteilung}?',
    ]);
  });
});
