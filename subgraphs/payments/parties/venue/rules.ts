import { readTimeZone } from '../../../../platform/clock.ts'
import { readText, requireName } from '../../../../platform/ids.ts'
import { requireActiveVenue, type VenueAddress, type VenueRow } from '../../stores/parties/venue.ts'
import { given, readCountry, readNameChange } from '../read.ts'

/** Lengths in characters, and how many venues a merchant may have. */
export const max = { name: 200, line: 200, postalCode: 20, venues: 100 } as const

/** An address as it is given. */
type GivenAddress = { readonly [Line in keyof VenueAddress]?: string | null | undefined }

/** What people may say of a venue; undefined stays. */
export interface VenueEdit {
  readonly name?: string | null | undefined
  readonly address?: GivenAddress | null | undefined
  readonly timeZone?: string | null | undefined
}

/** Reads an address; null for none, and for one without a line. @throws BAD_USER_INPUT with the line that is wrong */
export function readAddress(address: GivenAddress | null | undefined): VenueAddress | null {
  const { line1, line2, city, postalCode, country } = address ?? {}
  const read: VenueAddress = {
    line1: readText(line1, 'address.line1', max.line),
    line2: readText(line2, 'address.line2', max.line),
    city: readText(city, 'address.city', max.line),
    postalCode: readText(postalCode, 'address.postalCode', max.postalCode),
    country: readCountry(country, 'address.country'),
  }
  return Object.values(read).every(line => line === null) ? null : read
}

/** Reads the fields of a new venue. @throws BAD_USER_INPUT with the field that is wrong */
export const readVenue = ({ name, address, timeZone }: VenueEdit) => ({
  name: requireName(name ?? '', 'name', max.name),
  address: readAddress(address),
  timeZone: readTimeZone(timeZone ?? 'UTC'),
})

/** Returns what an edit changes. @throws BAD_USER_INPUT with the field that is wrong; CONFLICT, reason VENUE_ARCHIVED */
export function editVenue(venue: Pick<VenueRow, 'status'>, { name, address, timeZone }: VenueEdit): Partial<VenueRow> {
  requireActiveVenue(venue)
  return given({
    name: readNameChange(name, max.name),
    address: address === undefined ? undefined : readAddress(address),
    timeZone: timeZone === undefined ? undefined : readTimeZone(timeZone),
  }) as Partial<VenueRow>
}
