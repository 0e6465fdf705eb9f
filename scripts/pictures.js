import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';
import { pagePictures, reportPicture } from './pictures/pages.js';
import { recordTour } from './pictures/recording.js';
import { keep, shows, withShell, words } from './pictures/shell.js';

const FIRST_NAMES = ['Ada', 'Bo', 'Chen', 'Elif', 'Grace', 'Hanna', 'Łukasz', 'Nikos'];
const LAST_NAMES = ['Lovelace', 'Hopper', 'Novak', 'Garcia', 'Vogel', 'Ångström'];

// Creates the pictures in docs/pictures from real commands in a terminal and real web pages, with a separate sandbox.
await ensureBuilt();
await withShell(recordTour);
await withShell(pagePictures);
await withShell(async (shell) => {
  const { lease, offer } = await stage(shell);
  const get = 'esign envelopes get: the status and signers of an envelope, and the next commands';
  await shell.take('get', get, words`envelopes get ${offer}`);
  await watchPicture(shell, lease, offer);
});
await withShell(bulkPicture);
await withShell(followUpPictures);

function create(shell, template, days, ...signers) {
  const flags = signers.flatMap((signer) => ['--signer', signer]);
  return shell.esign`envelopes create --template ${template} --expires-in-days ${String(days)} ${flags} --send -q`;
}

/** Sends a lease that the landlord has signed, and an offer that the first of three people has signed. */
async function stage(shell) {
  const [landlord, tenant] = [
    'Łukasz Řehoř <lukasz@example.com>;role=Landlord',
    'Νίκος Βασιλείου <nikos@example.com>;role=Tenant',
  ];
  const lease = await create(shell, 'tmpl_lease', 30, landlord, tenant);
  const people = ['Ada Lovelace <ada@example.com>', 'Bo Li <bo@example.com>', 'Chen Wei <chen@example.com>'];
  const offer = await create(shell, 'tmpl_employment', 14, ...people);
  await shell.esign`sandbox sign ${lease}`;
  await shell.esign`sandbox sign ${offer}`;
  return { lease, offer };
}

async function watchPicture(shell, lease, offer) {
  const line = words`envelopes watch ${lease} ${offer} --interval 500ms`;
  const { terminal, child, ended } = shell.open(line, 12);
  await shows(terminal, new RegExp(`${offer}[^]*1/3`));
  await shell.esign`sandbox sign ${lease}`;
  await shows(terminal, /\b2\/2\b/);
  const title = 'esign envelopes watch: a live table, one envelope has just been completed';
  await keep('watch', title, terminal);
  child.write('\u0003');
  await ended;
}

/** A run whose first signers have signed or declined. */
async function bulkPicture(shell) {
  const names = ['Ada Lovelace', 'Bo Li', 'Chen Wei', 'Grace Hopper', 'Łukasz Řehoř', 'Zoë Ångström'];
  const people = names.map((name, at) => `signer${at + 1}@example.com,${name}`);
  await writeFile(join(shell.home, 'team.csv'), `email,name\n${people.join('\n')}\n`);
  await shell.esign`bulk create team.csv --template tmpl_nda --send --yes`;
  const ids = (await shell.esign`envelopes list --run last -q`).split('\n');
  await shell.esign`sandbox sign ${ids[5]}`;
  await shell.esign`sandbox sign ${ids[3]}`;
  await shell.esign`sandbox decline ${ids[2]} --reason ${'wrong company'}`;
  await shell.esign`sandbox advance 2d`;
  const about = 'esign bulk status: the signers in a run and their status';
  await shell.take('bulk-status', about, words`bulk status`);
}

/** Late signers, and a report on two months. Advances the sandbox's clock. */
async function followUpPictures(shell) {
  for (let week = 0; week < 8; week++) {
    for (let at = 0; at < 4 + (week % 3); at++) {
      const name = `${FIRST_NAMES[week]} ${LAST_NAMES[at]}`;
      const id = await create(shell, 'tmpl_nda', 30, `${name} <signer${week}${at}@example.com>`);
      await shell.esign`sandbox advance ${`${3 + 7 * at}h`}`;
      if (at < 4) await shell.esign`sandbox sign ${id}`;
    }
    await shell.esign`sandbox advance 4d`;
  }
  const late = 'esign late: late signers, and the command that reminds them';
  await shell.take('late', late, words`late`);
  const report = 'esign report: what needs attention, and figures';
  await shell.take('report', report, words`report`, 34);
  await reportPicture(shell);
}
