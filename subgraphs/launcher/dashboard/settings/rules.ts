import { DomainError } from '../../../../platform/errors.ts'
import type { OrganizationSettingsRow, PersonSettingsRow } from '../../stores/dashboard/settings.ts'
import { readLink } from '../place.ts'

/** Maximum characters of a path. */
const maxPath = 200

const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

type PersonValues = Pick<PersonSettingsRow, 'theme' | 'locale' | 'timeZone' | 'startPage'>
type OrganizationValues = Pick<OrganizationSettingsRow, 'defaultStartPage' | 'supportUrl'>

/** What applies while nobody has changed anything. */
export const defaults: { readonly person: PersonValues; readonly organization: OrganizationValues } = {
  person: { theme: 'SYSTEM', locale: null, timeZone: null, startPage: null },
  organization: { defaultStartPage: null, supportUrl: null },
}

/** Settings as they are given: undefined for what is left out, null for the default. */
export type GivenPersonSettings = { readonly [Name in keyof PersonValues]?: PersonValues[Name] | null | undefined }
export interface GivenOrganizationSettings {
  readonly defaultStartPage?: string | null | undefined
  readonly supportUrl?: URL | string | null | undefined
}

/** Reads a language tag in its canonical form. */
function readLocale(given: string): string {
  try {
    return new Intl.Locale(given).toString()
  } catch {
    throw mistake('locale', 'locale is no language tag: write one such as "de-CH".')
  }
}

/** Reads the name of a time zone; an offset such as `+02:00` is none, for it knows no summer. */
function readTimeZone(given: string): string {
  try {
    if (/^[A-Za-z]/.test(given)) return new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone
  } catch {
    // The sentence below says it.
  }
  throw mistake('timeZone', 'timeZone is no time zone: write one such as "Europe/Berlin".')
}

/** Reads a path of the dashboard: it leads to no other host, however a browser reads it. */
function readPath(given: string, field: string): string {
  if (given.length > maxPath) throw mistake(field, `${field} has ${given.length} characters: ${maxPath} are the most.`)
  const base = 'https://dashboard.invalid'
  if (/^\/(?![/\\])[\x21-\x7e]*$/.test(given) && !given.includes('\\') && URL.canParse(given, base) && new URL(given, base).origin === base) return given
  throw mistake(field, `${field} is no path of the dashboard: it begins with one "/", such as "/actions".`)
}

const given = <Value>(value: Value | null | undefined, read: (value: Value) => Value): Value | null =>
  value === null || value === undefined ? null : read(value)

/** Reads what a change of a person's settings mentions. @throws BAD_USER_INPUT with the field that is wrong */
export const personChanges = ({ theme, locale, timeZone, startPage }: GivenPersonSettings): Partial<PersonValues> => ({
  ...(theme !== undefined && { theme: theme ?? defaults.person.theme }),
  ...(locale !== undefined && { locale: given(locale, readLocale) }),
  ...(timeZone !== undefined && { timeZone: given(timeZone, readTimeZone) }),
  ...(startPage !== undefined && { startPage: given(startPage, path => readPath(path, 'startPage')) }),
})

/** Reads what a change of an organization's settings mentions. @throws BAD_USER_INPUT with the field that is wrong */
export const organizationChanges = ({ defaultStartPage, supportUrl }: GivenOrganizationSettings, isDevelopment: boolean): Partial<OrganizationValues> => ({
  ...(defaultStartPage !== undefined && { defaultStartPage: given(defaultStartPage, path => readPath(path, 'defaultStartPage')) }),
  ...(supportUrl !== undefined && { supportUrl: readLink(supportUrl, 'supportUrl', isDevelopment) }),
})
