import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/** The caller that requests figures. */
export interface MetricsAsker {
  readonly address: string
  readonly headers: IncomingHttpHeaders
}

/**
 * Host names of this machine, and addresses. A request under another name may come from a page in a local browser whose
 * owner let that name resolve to this machine.
 */
const ownHost = /^(?:(?:[a-z\d-]+\.)*localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * Whether a caller may read figures: from this machine without a proxy, by a local name or address, or with the token.
 * @param token null if there is none
 */
export function mayRead({ address: from, headers }: MetricsAsker, token: string | null): boolean {
  const shown = /^bearer +(.+?) *$/i.exec(headers.authorization ?? '')?.[1]
  if (token !== null && shown !== undefined) return isToken(shown, token)
  const passedOn = headers['x-forwarded-for'] ?? headers.forwarded
  const address = from.replace(/^::ffff:/, '')
  return passedOn === undefined && ownHost.test(headers.host ?? '') && (address === '::1' || (isIP(address) === 4 && address.startsWith('127.')))
}

/** Whether a caller showed the token; it takes the same time for any other text. */
export const isToken = (shown: string, token: string): boolean => timingSafeEqual(hash(shown), hash(token))

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
