import type { ObjectFacts } from './object-store.ts';
import { S3Error } from './s3-error.ts';
import { encode } from './sigv4.ts';
import type { Xml } from './xml.ts';

const MAX_KEYS = 1_000;

/** One page of a listing: objects and common prefixes, and where the next page begins. */
interface Page {
  contents: ObjectFacts[];
  prefixes: string[];
  /** The last key of this page when there are more. */
  next: string | undefined;
}

/** ListObjectsV2 over objects that are already in order: prefix, delimiter, start-after, paging. */
export function listResult(
  bucket: string,
  objects: readonly ObjectFacts[],
  query: ReadonlyMap<string, string>,
): Xml {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const limit = maxKeys(query.get('max-keys'));
  const shown = query.get('encoding-type') === 'url' ? encodePath : (text: string) => text;
  const startAfter = query.get('start-after');
  const page = pageOf(objects, { prefix, delimiter, after: afterKey(query), limit });
  return {
    Name: bucket,
    Prefix: shown(prefix),
    Delimiter: delimiter === '' ? undefined : shown(delimiter),
    StartAfter: startAfter === undefined ? undefined : shown(startAfter),
    MaxKeys: limit,
    KeyCount: page.contents.length + page.prefixes.length,
    EncodingType: query.get('encoding-type'),
    IsTruncated: page.next !== undefined,
    NextContinuationToken: page.next === undefined ? undefined : Buffer.from(page.next).toString('base64url'),
    Contents: page.contents.map((object) => ({
      Key: shown(object.key),
      LastModified: object.modifiedAt,
      ETag: `"${object.etag}"`,
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
    CommonPrefixes: page.prefixes.map((one) => ({ Prefix: shown(one) })),
  };
}

function pageOf(
  objects: readonly ObjectFacts[],
  wanted: { prefix: string; delimiter: string; after: string; limit: number },
): Page {
  const { prefix, delimiter, after, limit } = wanted;
  const page: Page = { contents: [], prefixes: [], next: undefined };
  let last = '';
  for (const object of objects.filter((one) => one.key.startsWith(prefix) && isAfter(one.key, after))) {
    const common = commonPrefix(object.key, prefix, delimiter);
    if (!isListed(common, page, after)) {
      if (page.contents.length + page.prefixes.length >= limit)
        return { ...page, next: limit > 0 ? last : undefined };
      if (common === undefined) page.contents.push(object);
      else page.prefixes.push(common);
    }
    last = object.key;
  }
  return page;
}

/** A prefix stands for all its keys: it is listed once, also when the page before ended inside it. */
function isListed(common: string | undefined, page: Page, after: string): boolean {
  return common !== undefined && (common === page.prefixes.at(-1) || after.startsWith(common));
}

function afterKey(query: ReadonlyMap<string, string>): string {
  const token = query.get('continuation-token');
  return token === undefined
    ? (query.get('start-after') ?? '')
    : Buffer.from(token, 'base64url').toString('utf8');
}

function isAfter(key: string, after: string): boolean {
  return after === '' || Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0;
}

function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '') return undefined;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
}

function maxKeys(text: string | undefined): number {
  if (text === undefined) return MAX_KEYS;
  if (!/^\d{1,9}$/.test(text)) throw new S3Error('InvalidArgument', 'max-keys must be a whole number.');
  return Math.min(MAX_KEYS, Number(text));
}

function encodePath(text: string): string {
  return text.split('/').map(encode).join('/');
}
