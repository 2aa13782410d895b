import type { Config } from '../../../../config.ts'
import { StartError } from '../../../../start-error.ts'
import { credentialsOf } from '../../../engine/transport/addresses.ts'
import { readText } from './read-text.ts'
import type { RemoteSource } from './remote-source.ts'

/**
 * Addresses that answer with the SDL, such as those of Hive's CDN. A version is known by its ETag.
 * @param named addresses with commas between
 * @throws StartError for what is no address
 */
export function addressesAt({ hiveKey, headers }: Config['supergraphs'], named: string): RemoteSource {
  const urls = named.split(',').map(each => each.trim())
  const wrong = urls.find(url => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
  if (wrong !== undefined)
    throw new StartError(`the supergraph's source "${wrong}" is not understood: name a file, http(s) addresses with commas between, s3://bucket/key, or uplink`)
  return {
    name: urls.map(shown).join(','),
    identity: named,
    addresses: urls.length,
    leastMs: 0,
    origins: urls.map(url => new URL(url).origin),
    async ask(stream, address, tag) {
      const url = urls[address]!
      const [header, value] = credentialsOf(new URL(url))
      const answer = await readText(stream, withoutPassword(url), {
        headers: {
          ...(header && value && { [header]: value }),
          ...(hiveKey && { 'x-hive-cdn-key': hiveKey }),
          ...headers,
          ...(tag && { 'if-none-match': tag }),
        },
      })
      if (answer.status === 304 && tag) return { sdl: null }
      if (answer.status !== 200) throw new Error(`${shown(url)} answered ${answer.status}`)
      return { sdl: answer.text, tag: answer.headers.get('etag') }
    },
  }
}

/** An address without what may be secret in it. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

function withoutPassword(url: string): string {
  const address = new URL(url)
  address.username = ''
  address.password = ''
  return address.href
}
