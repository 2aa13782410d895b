import { AwsV4Signer } from 'aws4fetch'
import type { Config } from '../../../../config.ts'
import { addressOfBucket } from '../../../../platform/storage/s3.ts'
import { StartError } from '../../../../start-error.ts'
import { readText } from './read-text.ts'
import type { RemoteSource } from './remote-source.ts'

/**
 * An object in a bucket of any S3-compatible server, with the `S3_*` settings. A version is known by its ETag.
 * @param named `s3://bucket/key`
 * @throws StartError for another form, or without credentials
 */
export function bucketAt({ s3 }: Config['supergraphs'], named: string): RemoteSource {
  const [, bucket, key] = /^s3:\/\/([a-z\d][a-z\d.-]{1,61}[a-z\d])\/(.+)$/i.exec(named) ?? []
  if (!bucket || !key) throw new StartError(`the supergraph's source "${named}" is not understood: write s3://bucket/key`)
  const { accessKeyId, secretAccessKey, region } = s3
  if (!accessKeyId || !secretAccessKey) throw new StartError(`S3_ACCESS_KEY_ID: missing: ${named} needs it, with S3_SECRET_ACCESS_KEY`)
  const url = `${addressOfBucket({ ...s3, bucket })}/${key.split('/').map(encodeURIComponent).join('/')}`
  return {
    name: named,
    identity: `${s3.endpoint} ${named}`,
    addresses: 1,
    leastMs: 0,
    origins: [new URL(url).origin],
    async ask(stream, _, tag) {
      const headers = { ...(tag && { 'if-none-match': tag }) }
      const signed = await new AwsV4Signer({ method: 'GET', url, headers, accessKeyId, secretAccessKey, region, service: 's3' }).sign()
      const answer = await readText(stream, signed.url.href, { headers: Object.fromEntries(signed.headers) })
      if (answer.status === 304 && tag) return { sdl: null }
      if (answer.status === 200) return { sdl: answer.text, tag: answer.headers.get('etag') }
      const code = /<Code>(\w{1,80})<\/Code>/.exec(answer.text)?.[1]
      throw new Error(`${named} cannot be read: the bucket answered ${answer.status}${code ? `, ${code}` : ''}`)
    },
  }
}
