import { readId, readText, requireName } from '../../../../platform/ids.ts'
import { readMetadata } from '../../order/metadata.ts'
import type { MetadataRow } from '../../stores/order.ts'
import { type CustomerRow, requireKept } from '../../stores/parties/customer.ts'
import { given, readMail, readNameChange } from '../read.ts'

/** Lengths in characters. */
export const max = { name: 200, reference: 120, search: 200 } as const

/** What people may say of a customer; undefined stays, null removes. */
export interface CustomerEdit {
  readonly name?: string | null | undefined
  readonly email?: string | null | undefined
  readonly reference?: string | null | undefined
  readonly userId?: string | null | undefined
  readonly metadata?: readonly MetadataRow[] | null | undefined
}

/** Reads the fields of a new customer. @throws BAD_USER_INPUT with the field that is wrong */
export const readCustomer = ({ name, email, reference, userId, metadata }: CustomerEdit) => ({
  name: requireName(name ?? '', 'name', max.name),
  email: readMail(email, 'email'),
  reference: readText(reference, 'reference', max.reference),
  userId: readId(userId, 'userId'),
  metadata: readMetadata(metadata) ?? [],
})

/** Returns what an edit changes. @throws BAD_USER_INPUT with the field that is wrong; CONFLICT, reason CUSTOMER_ERASED */
export function editCustomer(customer: CustomerRow, { name, email, reference, userId, metadata }: CustomerEdit): Partial<CustomerRow> {
  requireKept(customer)
  return given({
    name: readNameChange(name, max.name),
    email: email === undefined ? undefined : readMail(email, 'email'),
    reference: reference === undefined ? undefined : readText(reference, 'reference', max.reference),
    userId: userId === undefined ? undefined : readId(userId, 'userId'),
    metadata: readMetadata(metadata),
  }) as Partial<CustomerRow>
}

/** Returns what erasing changes: nothing of a customer that is erased. */
export const eraseCustomer = ({ erasedAt }: CustomerRow, now: Date): Partial<CustomerRow> =>
  erasedAt ? {} : { name: null, email: null, reference: null, userId: null, metadata: [], erasedAt: now }
