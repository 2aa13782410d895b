import { resolve } from 'node:path'
import type { S3Settings } from '../platform/storage/s3.ts'
import { address, flag, oneOf, text } from './readers.ts'
import { type Start, setting, type Values } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** Where pictures and films are kept. */
export const objects = {
  kind: setting('STORAGE', oneOf('file', 's3'), {
    fallback: 'file',
    by: subgraphs,
    does: 'Where pictures and films are kept: `file`, in a folder, or `s3`, in a bucket of anything that speaks S3. Processes on several machines need the latter, or a folder that they share. Changing it moves nothing: copy the objects first, their names are the same.',
  }),
  dir: setting('STORAGE_DIR', text, { fallback: null, without: '`$DATA_DIR/storage`', by: subgraphs, does: 'The folder of `STORAGE=file`.' }),
  endpoint: setting('S3_ENDPOINT', address, {
    fallback: null,
    without: '`https://s3.$S3_REGION.amazonaws.com`',
    by: subgraphs,
    does: 'Where the bucket’s server is; it may lie on a private address.',
  }),
  region: setting('S3_REGION', text, { fallback: 'us-east-1', by: subgraphs, does: 'The region that requests are signed for.' }),
  bucket: setting('S3_BUCKET', text, { fallback: null, by: subgraphs, does: 'The bucket, which must be there.' }),
  accessKeyId: setting('S3_ACCESS_KEY_ID', text, {
    fallback: null,
    by: subgraphs,
    does: 'Who opens the bucket: may put, get and delete objects in it. Together with its secret.',
  }),
  secretAccessKey: setting('S3_SECRET_ACCESS_KEY', text, { fallback: null, by: subgraphs, does: 'Its secret: both are set, or none.' }),
  pathStyle: setting('S3_PATH_STYLE', flag, {
    fallback: false,
    by: subgraphs,
    does: '`1`: the bucket stands in the path, as most servers of one’s own want it, and not before the host.',
  }),
}

/** Where objects are kept: a folder, or a bucket. */
export type Objects = { readonly folder: string } | { readonly bucket: S3Settings }

/**
 * What was read, put together.
 * @param dataDir below which the folder is, where no other is named
 * @param mistakes takes what is said of settings that do not belong together, a line each
 */
export function objectsOf(
  { kind, dir, endpoint, region, bucket, accessKeyId, secretAccessKey, pathStyle }: Values<typeof objects>,
  dataDir: string,
  mistakes: string[],
): Objects {
  if ((accessKeyId === null) !== (secretAccessKey === null))
    mistakes.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: one is set without the other; set both or none')
  if (kind === 'file') return { folder: resolve(dir ?? `${dataDir}/storage`) }
  if (bucket === null) mistakes.push('S3_BUCKET: missing: STORAGE=s3 needs it')
  if (accessKeyId === null && secretAccessKey === null) mistakes.push('S3_ACCESS_KEY_ID: missing: STORAGE=s3 needs it, with S3_SECRET_ACCESS_KEY')
  return {
    bucket: {
      endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
      region,
      bucket: bucket ?? '',
      accessKeyId: accessKeyId ?? '',
      secretAccessKey: secretAccessKey ?? '',
      pathStyle,
    },
  }
}
