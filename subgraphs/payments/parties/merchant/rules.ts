import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireName } from '../../../../platform/ids.ts'
import type { MerchantRow } from '../../stores/merchant.ts'
import { given, readCountry, readMail, readNameChange } from '../read.ts'

/** Lengths in characters, and how many merchants an organization may have. */
export const max = { name: 200, legalName: 200, taxId: 50, merchants: 1_000 } as const

/** What people may say of a merchant; undefined stays, null removes. */
export interface MerchantEdit {
  readonly name?: string | null | undefined
  readonly legalName?: string | null | undefined
  readonly country?: string | null | undefined
  readonly defaultCurrency?: string | null | undefined
  readonly invoicePrefix?: string | null | undefined
  readonly taxId?: string | null | undefined
  readonly supportEmail?: string | null | undefined
}

/** Reads a prefix of invoice numbers. @throws BAD_USER_INPUT for what is not 1 to 10 capital letters and digits */
export function readPrefix(prefix: string | null): string {
  if (prefix !== null && /^[A-Z0-9]{1,10}$/.test(prefix)) return prefix
  throw new DomainError('BAD_USER_INPUT', 'invoicePrefix takes 1 to 10 capital letters and digits, such as INV2.', { field: 'invoicePrefix' })
}

/** Reads the fields of a new merchant. @throws BAD_USER_INPUT with the field that is wrong */
export const readMerchant = ({ name, legalName, country, invoicePrefix, taxId, supportEmail }: MerchantEdit) => ({
  name: requireName(name ?? '', 'name', max.name),
  legalName: readText(legalName, 'legalName', max.legalName),
  country: readCountry(country, 'country'),
  invoicePrefix: invoicePrefix === undefined || invoicePrefix === null ? null : readPrefix(invoicePrefix),
  taxId: readText(taxId, 'taxId', max.taxId),
  supportEmail: readMail(supportEmail, 'supportEmail'),
})

/** Reads what an edit changes. @throws BAD_USER_INPUT with the field that is wrong */
export function editMerchant({ name, legalName, country, defaultCurrency, invoicePrefix, taxId, supportEmail }: MerchantEdit): Partial<MerchantRow> {
  if (defaultCurrency === null)
    throw new DomainError('BAD_USER_INPUT', 'defaultCurrency cannot be removed: name another currency.', { field: 'defaultCurrency' })
  return given({
    name: readNameChange(name, max.name),
    legalName: legalName === undefined ? undefined : readText(legalName, 'legalName', max.legalName),
    country: country === undefined ? undefined : readCountry(country, 'country'),
    defaultCurrency,
    invoicePrefix: invoicePrefix === undefined ? undefined : readPrefix(invoicePrefix),
    taxId: taxId === undefined ? undefined : readText(taxId, 'taxId', max.taxId),
    supportEmail: supportEmail === undefined ? undefined : readMail(supportEmail, 'supportEmail'),
  }) as Partial<MerchantRow>
}

/** @throws CONFLICT, reason PREFIX_TAKEN, when another merchant of the organization has the prefix */
export function requireFreePrefix(prefix: string, taken: readonly string[]): void {
  if (taken.includes(prefix))
    throw new DomainError('CONFLICT', `Another merchant of the organization has the invoicePrefix ${prefix}: choose another.`, {
      reason: 'PREFIX_TAKEN',
      field: 'invoicePrefix',
    })
}
