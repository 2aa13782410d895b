import { Refusal } from '../../../platform/errors.ts'
import type { Exchange } from '../../http/exchanges.ts'

/** Whose pages may call. */
export interface Pages {
  readonly publicUrl: string
  trustsOrigin(origin: string): boolean
}

/**
 * An exchange of a public row, which reads no credentials. A cookie that comes along says that a browser calls: then a page that the platform
 * trusts must have sent it there.
 * @param options.signsIn whether the answer gives a browser a session: then no other page may have it sent, with or without a cookie, or it
 *   would have people go on as somebody else (login CSRF) @default false
 */
export const publicExchange =
  ({ publicUrl, trustsOrigin }: Pages, exchange: Exchange, { signsIn = false }: { readonly signsIn?: boolean } = {}): Exchange =>
  async (request, viewer) => {
    const origin = request.headers.get('origin')
    const isOurs = origin !== null && (origin === publicUrl || trustsOrigin(origin))
    if (!isOurs && signsIn && origin !== null)
      throw new Refusal('FORBIDDEN', 'A browser is signed in by a page that the platform trusts: open one of its own pages.')
    if (!isOurs && request.headers.has('cookie'))
      throw new Refusal('FORBIDDEN', 'Requests with a cookie must come from a page that the platform trusts: send none, or open a page of the platform.')
    return exchange(request, viewer)
  }
