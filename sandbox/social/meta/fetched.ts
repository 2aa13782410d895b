import type { ReceivedMedium } from '../../network.ts'
import { createDigest } from '../films/read.ts'
import { type FilmFault, type FilmRules, filmFault } from '../films/rules.ts'

/** What the network takes of one kind of media. */
export interface MediumRules {
  readonly types: readonly string[]
  readonly mostBytes: number
  /** @default none: pictures */
  readonly film?: FilmRules
}

/** Why a medium is not taken. */
export type Untaken = 'unreachable' | 'large' | 'type' | FilmFault

const tenSecondsMs = 10_000

/**
 * Fetches a picture or film as the real network does, and judges it by its bytes. They are counted and hashed, and not kept.
 * @param url as the application gave it
 */
export async function fetchMedium(url: string, { types, mostBytes, film }: MediumRules): Promise<ReceivedMedium | Untaken> {
  if (!/^https?:\/\//.test(url)) return 'unreachable'
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(tenSecondsMs), headers: { 'user-agent': 'facebookexternalua' } })
    if (answer.status !== 200 || !answer.body) {
      await answer.body?.cancel()
      return 'unreachable'
    }
    const hash = createDigest()
    const head: Buffer[] = []
    let bytes = 0
    for await (const part of answer.body) {
      if (bytes < 32) head.push(Buffer.from(part))
      bytes += part.length
      if (bytes > mostBytes) return 'large'
      hash.update(part)
    }
    const mimeType = typeOf(Buffer.concat(head).subarray(0, 32))
    if (!mimeType || !types.includes(mimeType)) return 'type'
    return (film && filmFault(film, hash.film())) ?? { mimeType, bytes, sha256: hash.digest() }
  } catch {
    return 'unreachable'
  }
}

/** What bytes begin as. */
function typeOf(head: Buffer): string | undefined {
  const text = head.toString('latin1')
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('GIF8')) return 'image/gif'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp'
  if (text.slice(4, 8) === 'ftyp') return text.slice(8, 12) === 'qt  ' ? 'video/quicktime' : 'video/mp4'
  return undefined
}
