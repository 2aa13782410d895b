import type { PersonProfileRow } from '../../stores/person-profile.ts'
import type { ProfileAuthorizationRow } from '../../stores/profile-authorization.ts'

/** Why a profile may not be used. */
export type Hindrance = 'AUTHORIZATION_MISSING' | 'USAGE_NOT_ALLOWED'

/** What a profile is to be used for. */
export interface Use {
  /** Name of the product: `agents`. */
  readonly product: string
  readonly purpose: string | null
}

type Authorization = Pick<ProfileAuthorizationRow, 'expiresAt' | 'revokedAt'>

/** Whether one of the authorizations is neither expired nor revoked. */
export const holds = (authorizations: readonly Authorization[], now: Date): boolean =>
  authorizations.some(({ expiresAt, revokedAt }) => revokedAt === null && (expiresAt === null || expiresAt > now))

/**
 * Decides whether a profile may be used: an authorization holds, and a policy of the product allows it while none forbids it.
 * @returns null where it may
 */
export function hindranceOf(
  { usagePolicies }: Pick<PersonProfileRow, 'usagePolicies'>,
  authorizations: readonly Authorization[],
  { product, purpose }: Use,
  now: Date,
): Hindrance | null {
  if (!holds(authorizations, now)) return 'AUTHORIZATION_MISSING'
  const counting = usagePolicies.filter(
    policy =>
      policy.product === product && (policy.purpose === null || policy.purpose === purpose) && (policy.expiresAt === null || new Date(policy.expiresAt) > now),
  )
  return counting.some(({ allowed }) => allowed) && counting.every(({ allowed }) => allowed) ? null : 'USAGE_NOT_ALLOWED'
}
