import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import nock from 'nock';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openBucket } from '../../../src/documents/bucket/bucket.ts';
import { newFolder } from '../../support/folder.ts';

/* Where AWS credentials come from. STS, SSO, and the endpoint of a container are answered by nock. */

const ROLE = 'arn:aws:iam::111122223333:role/reader';
const SSO = 'sso_account_id = 111122223333\nsso_role_name = Reader';
const CONFIG = `
[profile base]
aws_access_key_id = AKBASE
aws_secret_access_key = base-secret
region = eu-west-1
[profile assume]
role_arn = ${ROLE}
source_profile = base
region = eu-west-1
[profile mfa]
role_arn = ${ROLE}
source_profile = base
mfa_serial = arn:aws:iam::111122223333:mfa/ann
[profile nosource]
role_arn = ${ROLE}
source_profile = gone
[profile loopa]
role_arn = ${ROLE}
source_profile = loopb
[profile loopb]
role_arn = ${ROLE}
source_profile = loopa
[profile sso]
sso_session = corp
${SSO}
[sso-session corp]
sso_start_url = https://corp.example/start
sso_region = eu-west-1
[profile legacy]
sso_start_url = https://legacy.example/start
sso_region = eu-west-1
${SSO}
[profile nosession]
sso_session = nosuch
${SSO}
[profile spaced]
sso_session = corp main
${SSO}
[profile "also spaced"] # with a comment
sso_session = corp main
${SSO}
[sso-session 'corp main']
sso_start_url = https://corp.example/start
sso_region = eu-west-1
[profile web]
role_arn = ${ROLE}
web_identity_token_file = /nonexistent/token
region = eu-west-1
[profile variables]
role_arn = ${ROLE}
credential_source = Environment
[profile login]
login_session = arn:aws:iam::111122223333:user/ann
[profile empty]
region = eu-west-1
`;

let folder: string;

beforeEach(async () => {
  folder = newFolder();
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  vi.stubEnv('HOME', folder);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_CONFIG_FILE', await file('config', CONFIG));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
  nock.disableNetConnect();
});
afterEach(() => {
  vi.unstubAllEnvs();
  nock.cleanAll();
});

afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** Returns the access key that a link is signed with. */
async function keyId(env: Record<string, string>, timeoutMs?: number): Promise<string | undefined> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const bucket = await openBucket({ bucket: 'documents', region: 'eu-west-1' }, { timeoutMs });
  try {
    return /X-Amz-Credential=([^%]+)/.exec(await bucket.link('a.pdf', 60))?.[1];
  } finally {
    bucket.close();
  }
}

async function errorFor(env: Record<string, string>, timeoutMs?: number): Promise<string> {
  const error: unknown = await keyId(env, timeoutMs).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'STORAGE_CREDENTIALS' });
  const text = error instanceof Error ? error.message : '';
  expect(text).not.toContain('documents');
  return text;
}

const sts = () => nock('https://sts.eu-west-1.amazonaws.com').post('/');
const portal = () =>
  nock('https://portal.sso.eu-west-1.amazonaws.com').get('/federation/credentials').query(true);
const container = () => nock('http://169.254.170.2').get('/creds');
const CONTAINER = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/creds' };

const stsKey = (action: string) =>
  `<${action}Response><${action}Result><Credentials><AccessKeyId>AKROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
   <SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></${action}Result></${action}Response>`;
const stsError = (code: string, message: string) =>
  `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/** Stores the token of a session, as `aws sso login` does. */
const signIn = (session: string) =>
  file(
    `.aws/sso/cache/${createHash('sha1').update(session).digest('hex')}.json`,
    JSON.stringify({ accessToken: 'token', expiresAt: '2099-01-01T00:00:00Z' }),
  );

describe('credentials of each kind', () => {
  it('are used: a key in the environment, also with an empty region', async () => {
    const key = { AWS_ACCESS_KEY_ID: 'AKENV', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: '' };
    expect(await keyId(key)).toBe('AKENV');
  });

  it('are used: a profile, also if a key is in the environment', async () => {
    const key = { AWS_ACCESS_KEY_ID: 'AKENV', AWS_SECRET_ACCESS_KEY: 's', AWS_PROFILE: 'base' };
    expect(await keyId(key)).toBe('AKBASE');
  });

  it('are used: a role, from STS', async () => {
    sts().reply(200, stsKey('AssumeRole'));
    expect(await keyId({ AWS_PROFILE: 'assume' })).toBe('AKROLE');
  });

  it('are used: a web identity, from STS', async () => {
    sts().reply(200, stsKey('AssumeRoleWithWebIdentity'));
    const token = await file('token', 'jwt');
    const env = { AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ROLE_ARN: ROLE, AWS_REGION: 'eu-west-1' };
    expect(await keyId(env)).toBe('AKROLE');
  });

  it.each([
    ['sso', 'corp'],
    ['spaced', 'corp main'],
    ['also spaced', 'corp main'],
    ['legacy', 'https://legacy.example/start'],
  ])('are used: an SSO profile (%s)', async (profile, session) => {
    await signIn(session);
    const roleCredentials = {
      accessKeyId: 'AKSSO',
      secretAccessKey: 's',
      sessionToken: 't',
      expiration: 4e12,
    };
    portal().reply(200, { roleCredentials });
    expect(await keyId({ AWS_PROFILE: profile })).toBe('AKSSO');
  });

  it("are used: a container's", async () => {
    const key = {
      AccessKeyId: 'AKTASK',
      SecretAccessKey: 's',
      Token: 't',
      Expiration: '2099-01-01T00:00:00Z',
    };
    container().reply(200, key);
    expect(await keyId(CONTAINER)).toBe('AKTASK');
  });

  it('are used: those that credential_process prints', async () => {
    const key = JSON.stringify({ Version: 1, AccessKeyId: 'AKPROC', SecretAccessKey: 's' });
    const script = await file('key.sh', `echo warning >&2; printf '${key}\\r\\n'`);
    vi.stubEnv(
      'AWS_CONFIG_FILE',
      await file('process', `[profile own]\ncredential_process = sh ${script}\n`),
    );
    expect(await keyId({ AWS_PROFILE: 'own' })).toBe('AKPROC');
  });
});

describe('a source that fails', () => {
  it.each([
    ['AccessDenied', 'User ann is not authorized to perform: sts:AssumeRole'],
    ['InvalidClientTokenId', 'The security token included in the request is invalid'],
    ['ExpiredToken', 'The security token included in the request is expired'],
    ['RegionDisabledException', 'STS is not activated in this region'],
  ])('is named with its answer: STS, %s', async (code, message) => {
    sts().reply(403, stsError(code, message));
    expect(await errorFor({ AWS_PROFILE: 'assume' })).toBe(
      `Can't get AWS credentials: AWS STS (sts.eu-west-1.amazonaws.com) refused the request for the AWS profile assume (${code}: ${message}).`,
    );
  });

  it('is named if it is unreachable: STS', async () => {
    nock('https://sts.eu-west-1.amazonaws.com')
      .post('/')
      .times(5)
      .replyWithError(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    expect(await errorFor({ AWS_PROFILE: 'assume' })).toContain(
      'no response from AWS STS (sts.eu-west-1.amazonaws.com) for the AWS profile assume (connection refused)',
    );
  });

  it('is named if it answers with a page: STS', async () => {
    sts().reply(200, '<html>Sign in</html>');
    expect(await errorFor({ AWS_PROFILE: 'assume' })).toContain('the response of AWS STS (sts.eu-west-1');
  });

  it('is named with its answer: SSO', async () => {
    await signIn('corp');
    portal().reply(403, { message: 'No access' }, { 'x-amzn-ErrorType': 'ForbiddenException' });
    expect(await errorFor({ AWS_PROFILE: 'sso' })).toMatch(
      /AWS SSO \(portal\.sso\.eu-west-1\.amazonaws\.com\) refused the request for the AWS profile sso \(.*No access/,
    );
  });

  // The SDK waits a second before it asks again.
  it.each<[string, number, string, string]>([
    ['a page', 200, '<html>', 'the response of'],
    ['JSON without a key', 200, '{}', 'the response of'],
    ['a refusal', 403, '{"code":"Denied"}', 'refused the request (status: 403)'],
  ])("is named: a container's endpoint with %s", { tags: ['full'] }, async (_, status, body, why) => {
    nock('http://169.254.170.2').get('/creds').times(5).reply(status, body);
    const text = await errorFor(CONTAINER);
    expect(text).toContain(why);
    expect(text).toContain("the container's endpoint http://169.254.170.2/creds");
  });

  it.each([
    ['gone', 'the AWS profile gone does not exist'],
    ['nosource', 'the AWS profile nosource names the source_profile gone, which does not exist'],
    ['loopa', 'the AWS profiles loopa → loopb → loopa name each other as source_profile'],
    ['mfa', "the AWS profile mfa needs an MFA code, for which esign can't ask"],
    ['nosession', 'names the sso_session nosuch, which is not in ~/.aws/config'],
    ['spaced', 'the AWS profile spaced is not signed in, or its session has expired'],
    ['sso', 'the AWS profile sso is not signed in, or its session has expired'],
    ['legacy', 'the AWS profile legacy is not signed in, or its session has expired'],
    ['login', 'the AWS profile login is not signed in, or its session has expired'],
    ['web', "can't read /nonexistent/token for the AWS profile web (the file does not exist)"],
    ['variables', 'the AWS profile variables has none'],
    ['empty', 'the AWS profile empty has none'],
  ])('is named: the AWS profile %s', async (profile, why) => {
    expect(await errorFor({ AWS_PROFILE: profile })).toContain(why);
  });

  it('reports that nothing is configured', async () => {
    expect(await errorFor({ AWS_PROFILE: '' })).toBe("Can't get AWS credentials: none were found.");
  });

  it('is asked once for several documents', async () => {
    const count = join(folder, 'count');
    const script = await file('fail.sh', `echo x >> ${count}; echo push denied >&2; exit 3`);
    vi.stubEnv(
      'AWS_CONFIG_FILE',
      await file('process', `[profile own]\ncredential_process = sh ${script}\n`),
    );
    vi.stubEnv('AWS_PROFILE', 'own');
    const bucket = await openBucket({ bucket: 'documents', region: 'eu-west-1' });
    for (const key of ['a', 'b', 'c'])
      await expect(bucket.head(key)).rejects.toThrow(
        'credential_process failed (push denied) for the AWS profile own',
      );
    bucket.close();
    expect(await readFile(count, 'utf8')).toBe('x\n');
  });

  it('ends at the time limit: credential_process', async () => {
    vi.stubEnv('AWS_CONFIG_FILE', await file('process', '[profile own]\ncredential_process = sleep 600\n'));
    expect(await errorFor({ AWS_PROFILE: 'own' }, 100)).toContain('credential_process did not finish within');
  });
});
