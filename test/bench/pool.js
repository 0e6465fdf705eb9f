import { Pool } from 'undici';

/*
 * Makes the same calls as a bulk run and nothing else: node test/bench/pool.js ROWS, with ESIGN_BASE_URL and ESIGN_API_KEY.
 * bulk.js compares with it. Each runs as a separate process.
 */
const AT_ONCE = 16;
const { origin, pathname } = new URL(process.env.ESIGN_BASE_URL);
const pool = new Pool(origin, { connections: AT_ONCE });
const headers = { authorization: `Bearer ${process.env.ESIGN_API_KEY}`, 'content-type': 'application/json' };

async function post(path, body) {
  const reply = await pool.request({ method: 'POST', path: `${pathname}${path}`, headers, body });
  return reply.body.json();
}

async function work(rows) {
  for (const row of rows) {
    const signers = [{ email: `p${row}@example.com`, name: `Signer ${row}` }];
    const metadata = { esignRun: 'r', esignRow: row, esignRequestId: `r-${row}` };
    const body = JSON.stringify({ templateId: 'tmpl_nda', signers, metadata });
    const { data } = await post('/esign/envelopes', body);
    await post(`/esign/envelopes/${data.id}/send`);
  }
}

// All workers share one iterator: each takes the next row.
const rows = Array.from({ length: Number(process.argv[2]) }, (_, row) => row).values();
await Promise.all(Array.from({ length: AT_ONCE }, () => work(rows)));
await pool.close();
