import type { Ask } from '../../../../platform/ask.ts'
import { anonymous } from '../../../viewer.ts'
import { ContactDocument, MemberDocument, MembersDocument, PersonWithContactDocument, PlacesOfPersonDocument } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'

/** Maximum pages of an organization's members. */
const maxPages = 400

/** A member of an organization, as identity names it. */
export interface Member {
  readonly userId: string
  /** AGENT: a service account. */
  readonly kind: 'HUMAN' | 'AGENT'
  readonly isManager: boolean
}

const asLauncher = { appId: registration.appId, viewer: anonymous }

const kindOf = (userKind: string): Member['kind'] => (userKind === 'HUMAN' ? 'HUMAN' : 'AGENT')

const readPage = (ask: Ask, organizationId: string, after: string | null) => ask(MembersDocument, { organizationId, after }, asLauncher)

/** Returns the members of an organization in order of joining, people and service accounts; none of an unknown organization. */
export async function membersOf(ask: Ask, organizationId: string): Promise<readonly Member[]> {
  const members: Member[] = []
  let after: string | null = null
  for (let page = 0; page < maxPages; page += 1) {
    const { membershipsOf: found }: Awaited<ReturnType<typeof readPage>> = await readPage(ask, organizationId, after)
    for (const each of found?.nodes ?? []) {
      if (!each) continue
      const { userId, userKind, roles } = each
      members.push({ userId, kind: kindOf(userKind), isManager: roles.includes('OWNER') || roles.includes('ADMIN') })
    }
    after = found?.pageInfo.hasNextPage ? (found.pageInfo.endCursor ?? null) : null
    if (after === null) break
  }
  return members
}

/** Returns what kind of member somebody is of an organization; null for who is none. */
export async function memberKindOf(ask: Ask, organizationId: string, userId: string): Promise<Member['kind'] | null> {
  const { memberRights } = await ask(MemberDocument, { organizationId, userId }, asLauncher)
  return memberRights ? kindOf(memberRights.userKind) : null
}

/** Whether an organization has any member. */
export const hasMembers = async (ask: Ask, organizationId: string): Promise<boolean> =>
  ((await readPage(ask, organizationId, null)).membershipsOf?.nodes?.length ?? 0) > 0

/** Returns the verified mail address of a person; null without one. */
export const verifiedMailOf = async (ask: Ask, userId: string): Promise<string | null> => (await ask(ContactDocument, { userId }, asLauncher)).contactOf ?? null

/** Returns the person who has verified a mail address; null without one. */
export const personWith = async (ask: Ask, email: string): Promise<string | null> =>
  (await ask(PersonWithContactDocument, { email }, asLauncher)).personWithContact ?? null

/** An organization of a person, and what they may do there. */
export interface PlaceOfPerson {
  readonly id: string
  /** `owner`, `member`. */
  readonly roles: readonly string[]
}

/** Returns the organizations of a person, on whose behalf identity is asked. */
export async function placesOf(ask: Ask, userId: string): Promise<readonly PlaceOfPerson[]> {
  const viewer = { userId, organizationId: null, roles: [], scopes: [], context: 'personal' } as const
  const { accountOf } = await ask(PlacesOfPersonDocument, { userId }, { appId: registration.appId, viewer })
  return (accountOf?.profile as { readonly organizations: readonly PlaceOfPerson[] } | undefined)?.organizations ?? []
}
