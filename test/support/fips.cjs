// Loaded by `node --require`: emulates Node in FIPS mode for MD5. Each use of MD5 is logged to FIPS_LOG and fails.
const { appendFileSync } = require('node:fs');
const crypto = require('node:crypto');
const { syncBuiltinESMExports } = require('node:module');

for (const name of ['createHash', 'createHmac', 'hash']) {
  const real = crypto[name];
  crypto[name] = (algorithm, ...rest) => {
    if (!/md5/i.test(algorithm)) return real(algorithm, ...rest);
    appendFileSync(process.env.FIPS_LOG, `${name} ${process.argv.slice(2).join(' ')}\n`);
    throw Object.assign(new Error('error:0308010C:digital envelope routines::unsupported'), {
      code: 'ERR_OSSL_EVP_UNSUPPORTED',
    });
  };
}
crypto.getFips = () => 1;
syncBuiltinESMExports();
