import { Refusal } from '../../../platform/errors.ts'
import { type Reaches, unanswered } from '../../../platform/outbound/public.ts'

/**
 * Sees to it that an address which somebody names is no place inside, before it is kept or called. The connection itself looks again, and at
 * what a redirect leads to.
 * @param field the argument that named it
 * @throws BAD_USER_INPUT with the `field` for a private address, for a name that leads to one or for which nobody answers; for what is no address of HTTP
 */
export async function requirePublic(reaches: Reaches, address: string | URL, field: string): Promise<URL> {
  const url = typeof address === 'string' ? (URL.canParse(address) ? new URL(address) : null) : address
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Refusal('BAD_USER_INPUT', `${field} must be an address of HTTP, such as https://example.com/.`, { field })
  if (await reaches(url).catch(unanswered(field))) return url
  throw privateAddress(field)
}

/** What an address inside is refused with. */
const privateAddress = (field: string): Refusal =>
  new Refusal('BAD_USER_INPUT', `${field} leads to a private address, which is not called from here: name a public one.`, { field })
