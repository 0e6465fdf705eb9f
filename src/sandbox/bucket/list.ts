import { html } from '../../pages/html.ts';
import { type BucketCall, writeXml } from './call.ts';

const MAX_KEYS = 1_000;

/**
 * Handles ListObjectsV2, and ListObjects, which rclone uses. A page continues after the last key or common prefix of the page before, which
 * is its token.
 */
export function listObjects({ response, store, bucket, query }: BucketCall): void {
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const after = query.get('continuation-token') ?? query.get('start-after') ?? query.get('marker') ?? '';
  const limit = Math.min(MAX_KEYS, Number(query.get('max-keys')) || MAX_KEYS);
  const commonPrefix = (key: string) => {
    const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    return end < 0 ? undefined : key.slice(0, end + delimiter.length);
  };
  const matching = store.keys().filter((key) => key.startsWith(prefix));
  // A common prefix is listed once.
  const entries = [...new Set(matching.map((key) => commonPrefix(key) ?? key))].filter((one) => one > after);
  const shown = entries.slice(0, limit);
  const next = entries.length > limit ? shown.at(-1) : undefined;
  const isSecond = query.get('list-type') === '2';
  const token = isSecond
    ? html`<NextContinuationToken>${next}</NextContinuationToken>`
    : html`<NextMarker>${next}</NextMarker>`;
  writeXml(
    response,
    200,
    html`<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Name>${bucket}</Name>
<Prefix>${prefix}</Prefix>
<MaxKeys>${limit}</MaxKeys>
${isSecond && html`<KeyCount>${shown.length}</KeyCount>`}
<IsTruncated>${String(next !== undefined)}</IsTruncated>
${next !== undefined && token}
${shown.map((one) =>
  commonPrefix(one) === undefined
    ? objectXml(one, store)
    : html`<CommonPrefixes><Prefix>${one}</Prefix></CommonPrefixes>`,
)}
</ListBucketResult>`,
  );
}

function objectXml(key: string, store: BucketCall['store']) {
  const facts = store.facts(key);
  return html`<Contents>
<Key>${key}</Key>
<LastModified>${facts?.modifiedAt.toISOString()}</LastModified>
<ETag>&quot;${facts?.etag}&quot;</ETag>
<Size>${facts?.size}</Size>
<StorageClass>STANDARD</StorageClass>
</Contents>`;
}
