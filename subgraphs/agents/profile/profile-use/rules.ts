import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireName, requireText } from '../../../../platform/ids.ts'
import { type DraftKind, usualCharacters } from '../../engines/draft/draft.ts'
import { type Hindrance, hindranceOf, type Use } from '../../engines/profile/use.ts'
import type { PersonProfileRow } from '../../stores/person-profile.ts'
import type { ProfileAuthorizationRow } from '../../stores/profile-authorization.ts'

/** Limits of a wish for a text, in characters. */
export const limits = { brief: 2_000, characters: 10_000 } as const

type Maybe<Value> = Value | null | undefined

/** The fields that previews and applications share. */
interface Given {
  readonly product: string
  readonly purpose?: Maybe<string>
  readonly brief: string
  readonly kind?: Maybe<DraftKind>
  readonly maxCharacters?: Maybe<number>
}

/** Reads what is to be written, and what for. @throws BAD_USER_INPUT with the field */
export function readWish({ product, purpose, brief, kind, maxCharacters }: Given): {
  readonly use: Use
  readonly wish: { readonly brief: string; readonly kind: DraftKind; readonly maxCharacters: number }
} {
  const form = kind ?? 'POST'
  const most = maxCharacters ?? usualCharacters[form]
  if (most < 1 || most > limits.characters)
    throw new DomainError('BAD_USER_INPUT', `maxCharacters takes 1 to ${limits.characters}.`, { field: 'maxCharacters' })
  return {
    use: { product: requireName(product, 'product', 100), purpose: readText(purpose, 'purpose', 200) },
    wish: { brief: requireText(brief, 'brief', limits.brief), kind: form, maxCharacters: most },
  }
}

const messages: Readonly<Record<Hindrance, string>> = {
  AUTHORIZATION_MISSING: 'This profile has no valid authorization: its subject has to give one first.',
  USAGE_NOT_ALLOWED: 'The policies of this profile do not allow this use: its subject has to allow it first.',
}

/** Checks that a profile may be used so; nobody is above it. @throws FORBIDDEN with the reason */
export function requireUse(profile: PersonProfileRow, authorizations: readonly ProfileAuthorizationRow[], use: Use, now: Date): void {
  const hindrance = hindranceOf(profile, authorizations, use, now)
  if (hindrance) throw new DomainError('FORBIDDEN', messages[hindrance], { reason: hindrance })
}

/** Checks the status of a profile. @param allowed statuses in which it may be used so @throws CONFLICT, reason PROFILE_INACTIVE */
export function requireStatus({ status }: Pick<PersonProfileRow, 'status'>, allowed: readonly PersonProfileRow['status'][]): void {
  if (allowed.includes(status)) return
  throw new DomainError('CONFLICT', `The profile is ${status}: it is used while ${allowed.join(' or ')}.`, { reason: 'PROFILE_INACTIVE' })
}
