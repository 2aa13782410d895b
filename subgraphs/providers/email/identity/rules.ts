import { DomainError } from '../../../../platform/errors.ts'
import { requireName } from '../../../../platform/ids.ts'
import type { SenderDomainRow } from '../../stores/email/domain.ts'
import type { SenderIdentityRow } from '../../stores/email/identity.ts'
import { readLocalPart, requireMailAddress } from '../address.ts'

/** Maximum identities of an organization, and of the platform. */
export const mostIdentities = 25

/** @throws BAD_USER_INPUT for an invalid local part */
export function requireLocalPart(given: string, { domain }: Pick<SenderDomainRow, 'domain'>): string {
  const name = readLocalPart(given.trim().toLowerCase())
  if (name && name.length + domain.length < 254) return name
  throw new DomainError('BAD_USER_INPUT', "localPart takes 1 to 64 letters, digits and !#$%&'*+/=?^_`{|}~-, with single points between them.", {
    field: 'localPart',
  })
}

/** Reads a display name; null for none. @throws BAD_USER_INPUT */
export const readDisplayName = (given: string | null | undefined): string | null => (given?.trim() ? requireName(given, 'displayName', 200) : null)

/** @throws BAD_USER_INPUT */
export const readReplyTo = (given: string | null | undefined): string | null => (given?.trim() ? requireMailAddress(given, 'replyTo') : null)

export const addressOf = ({ localPart }: Pick<SenderIdentityRow, 'localPart'>, { domain }: Pick<SenderDomainRow, 'domain'>): string => `${localPart}@${domain}`
