import { createHash, createHmac } from 'node:crypto';

/** What a signature is made with. */
export interface SigningKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

const EMPTY_BODY = createHash('sha256').digest('hex');

/** A path as S3 wants it signed and sent: each byte but letters, digits, `-_.~` and the slashes encoded, nothing tidied up. */
export function encodePath(path: string): string {
  return path
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(
        /[!'()*]/g,
        (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/');
}

/** Signs GET requests of one region (AWS Signature Version 4); the day's key is made once. */
export class Signer {
  private readonly region: string;
  private day = '';
  private keyId = '';
  private key: Buffer | undefined;

  constructor(region: string) {
    this.region = region;
  }

  /** The headers of a request, the given ones among them; those of S3 (`x-amz-…`) are all signed. */
  sign(
    host: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    keys: SigningKeys,
    now: number,
  ): Record<string, string> {
    const stamp = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
    const all: Record<string, string> = {
      ...headers,
      host,
      'x-amz-content-sha256': EMPTY_BODY,
      'x-amz-date': stamp,
      ...(keys.sessionToken === undefined ? {} : { 'x-amz-security-token': keys.sessionToken }),
    };
    const signed = Object.keys(all)
      .filter((name) => name === 'host' || name.startsWith('x-amz-'))
      .sort();
    const lines = signed.map((name) => `${name}:${all[name]?.trim() ?? ''}\n`).join('');
    const names = signed.join(';');
    const canonical = `GET\n${path}\n\n${lines}\n${names}\n${EMPTY_BODY}`;
    const day = stamp.slice(0, 8);
    const scope = `${day}/${this.region}/s3/aws4_request`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const signature = createHmac('sha256', this.keyOf(day, keys))
      .update(`AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${digest}`)
      .digest('hex');
    all.authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    return all;
  }

  private keyOf(day: string, { accessKeyId, secretAccessKey }: SigningKeys): Buffer {
    if (this.key === undefined || this.day !== day || this.keyId !== accessKeyId) {
      const steps = [day, this.region, 's3', 'aws4_request'];
      let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
      for (const step of steps) key = createHmac('sha256', key).update(step).digest();
      [this.key, this.day, this.keyId] = [key, day, accessKeyId];
    }
    return this.key;
  }
}
