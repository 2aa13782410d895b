import { DomainError } from '../../../platform/errors.ts'
import { requireName } from '../../../platform/ids.ts'
import { isMailAddress, mailAddressSentence } from '../../../platform/smtp/mail-address.ts'

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
/** Codes with a name that ISO 3166-1 reserves, or has given up: unions, islands of other countries, codes for tests. */
const noCountries = new Set('AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH NT PZ QO QU RH SU TA TP UK UN VD XA XB YD YU ZR ZZ'.split(' '))

/**
 * Reads a country by its code of ISO 3166-1 alpha-2; null for none.
 * @param field the argument's name as the client wrote it
 * @throws BAD_USER_INPUT for what is no such code
 */
export function readCountry(code: string | null | undefined, field: string): string | null {
  if (code === null || code === undefined) return null
  if (/^[A-Z]{2}$/.test(code) && !noCountries.has(code) && regions.of(code) !== undefined) return code
  throw new DomainError('BAD_USER_INPUT', `${field} is no code of a country: write two capital letters of ISO 3166-1, such as DE.`, { field })
}

/** Reads a mail address; null for none. @throws BAD_USER_INPUT for what is no address */
export function readMail(address: string | null | undefined, field: string): string | null {
  if (address === null || address === undefined) return null
  if (isMailAddress(address)) return address
  throw new DomainError('BAD_USER_INPUT', `${field} takes an address ${mailAddressSentence}.`, { field })
}

/** Reads a name that may not be removed: undefined stays undefined. @throws BAD_USER_INPUT for null, and for what is no name */
export const readNameChange = (name: string | null | undefined, max: number): string | undefined =>
  name === undefined ? undefined : requireName(name ?? '', 'name', max)

/** Returns the fields of an input that were given. */
export const given = <Fields extends object>(fields: Fields): Partial<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>
