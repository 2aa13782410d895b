import { isRefusedAddress, OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import type { SourceFailure } from '../../stores/profile-source.ts'
import { textOfPage } from './page-text.ts'

/** Maximum redirects of one address. */
const maxRedirects = 5
/** Time limit of one answer, in ms. */
const timeoutMs = 8_000

/** Result of fetching an address: its text, a final failure, or one after which it may be tried again. */
export type Fetched = { readonly text: string } | { readonly failure: SourceFailure } | { readonly again: SourceFailure }

const failed = (code: SourceFailure['code'], message: string): Fetched => ({ failure: { code, message } })

/** Failure after which an address may be tried again. */
export const later = (message: string): Fetched => ({ again: { code: 'UPSTREAM_FAILED', message } })

/**
 * Fetches an address and reads its text. Follows redirects, each of which must lead to a public address as well.
 * @param maxLength maximum characters of the text, in UTF-16 code units
 */
export async function fetchText(outbound: Outbound, address: string, maxLength: number): Promise<Fetched> {
  let url = new URL(address)
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const answer = await outbound(url, { timeoutMs, headers: { accept: 'text/html, text/plain, text/markdown' } }).catch(error => {
      if (error instanceof OutboundFailure) return error
      throw error
    })
    if (answer instanceof OutboundFailure)
      return isRefusedAddress(answer)
        ? failed('ADDRESS_REFUSED', 'The address is not public: name one that everybody can open.')
        : later(`The address could not be read: ${new URL(url).host} gives an unexpected answer.`)
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get('location') : null
    if (location === null) return textOf(answer, maxLength)
    if (!URL.canParse(location, url)) return failed('UPSTREAM_FAILED', 'The address redirects to an invalid address.')
    url = new URL(location, url)
  }
  return failed('UPSTREAM_FAILED', `The address redirects more than ${maxRedirects} times.`)
}

function textOf({ status, headers, text }: OutboundAnswer, maxLength: number): Fetched {
  if (status === 429 || status >= 500) return later(`The address was answered with status ${status}.`)
  if (status !== 200) return failed('UPSTREAM_FAILED', `The address was answered with status ${status}: look whether it is right.`)
  const [type] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  const isPage = type === 'text/html' || type === 'application/xhtml+xml'
  if (!isPage && type !== 'text/plain' && type !== 'text/markdown') return failed('NOT_TEXT', 'The address holds neither a page nor plain text.')
  const found = (isPage ? textOfPage(text) : text).replaceAll('\0', '').toWellFormed().trim()
  if (found === '') return failed('EMPTY', 'The address holds a page without words.')
  if (found.length > maxLength) return failed('TOO_LARGE', `The text at the address has ${found.length} characters: the maximum is ${maxLength}.`)
  return { text: found }
}
