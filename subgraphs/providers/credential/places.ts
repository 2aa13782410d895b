import { DomainError } from '../../../platform/errors.ts'
import { type Reaches, unanswered } from '../../../platform/outbound/public.ts'

/**
 * Rejects an internal address that a person enters, before it is stored or called. Connections check again, also after
 * redirects.
 * @param field the argument with the address
 * @throws BAD_USER_INPUT with the `field` for a private address, for a name that resolves to one or not at all, and for
 * anything but an HTTP address
 */
export async function requirePublic(reaches: Reaches, address: string | URL, field: string): Promise<URL> {
  const url = typeof address === 'string' ? (URL.canParse(address) ? new URL(address) : null) : address
  if (!url || !/^https?:$/.test(url.protocol))
    throw new DomainError('BAD_USER_INPUT', `${field} must be an address of HTTP, such as https://example.com/.`, { field })
  if (await reaches(url).catch(unanswered(field))) return url
  throw privateAddress(field)
}

/** Error for an internal address. */
const privateAddress = (field: string): DomainError =>
  new DomainError('BAD_USER_INPUT', `${field} leads to a private address, which is not called from here: name a public one.`, { field })
