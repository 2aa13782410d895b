import { DomainError } from '../../../platform/errors.ts'
import type { Handler } from '../../http/handlers.ts'

/** Origins whose pages may call. */
export interface Pages {
  readonly publicUrl: string
  trustsOrigin(origin: string): boolean
}

/**
 * Wraps the handler of a public route, which reads no credentials. A cookie shows that a browser calls: then the
 * request must come from a trusted page.
 * @param options.signsIn whether the answer starts a session: then only trusted pages may send the request, with or
 * without a cookie, because it
 *   could sign people in as somebody else (login CSRF) @default false
 */
export const publicHandler =
  ({ publicUrl, trustsOrigin }: Pages, exchange: Handler, { signsIn = false }: { readonly signsIn?: boolean } = {}): Handler =>
  async (request, viewer) => {
    const origin = request.headers.get('origin')
    const isOurs = origin !== null && (origin === publicUrl || trustsOrigin(origin))
    if (!isOurs && signsIn && origin !== null)
      throw new DomainError('FORBIDDEN', 'A browser is signed in by a page that the platform trusts: open one of its own pages.')
    if (!isOurs && request.headers.has('cookie'))
      throw new DomainError('FORBIDDEN', 'Requests with a cookie must come from a page that the platform trusts: send none, or open a page of the platform.')
    return exchange(request, viewer)
  }
