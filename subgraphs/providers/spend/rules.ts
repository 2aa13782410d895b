import { DomainError } from '../../../platform/errors.ts'
import { isId } from '../../../platform/ids.ts'
import { isPerson, type Viewer } from '../../viewer.ts'
import { type Level, platformReaders } from '../stores/credential/credential.ts'
import type { SpendLimitRow, SpendPeriod, SpendScopeType } from '../stores/spend/limit.ts'

/** Maximum amount of a limit in micro-US-dollars: a billion US dollars. */
export const mostMicros = 1_000_000_000_000_000n
const longestNote = 500
const longestModel = 200

/** The families of providers whose calls cost money, as scopes name them. */
export const families = ['ai', 'email', 'payments', 'video'] as const

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

const isSuperAdmin = (viewer: Viewer): boolean => isPerson(viewer) && viewer.roles.includes('platform_super_admin')

/**
 * Whether a viewer may see and set hard limits of a level: owners of the organization, and super admins of the
 * platform; no key and no service.
 */
export const mayGovern = (viewer: Viewer, level: Level): boolean =>
  isSuperAdmin(viewer) || (level === 'ORGANIZATION' && isPerson(viewer) && viewer.roles.includes('owner'))

/**
 * Whether a viewer may see the amount of a hard limit: viewers who may set it, and owners of an organization for its
 * spending with the platform's credentials.
 */
export const maySeeHard = (viewer: Viewer, { level, scopeType, scopeValue }: Pick<SpendLimitRow, 'level' | 'scopeType' | 'scopeValue'>): boolean =>
  mayGovern(viewer, level) || (scopeType === 'PLATFORM_CREDENTIALS' && scopeValue === viewer.organizationId && mayGovern(viewer, 'ORGANIZATION'))

/** @throws FORBIDDEN for a viewer who may not see or set hard limits */
export function requireGovernor(viewer: Viewer, level: Level = 'ORGANIZATION'): void {
  if (mayGovern(viewer, level)) return
  throw new DomainError(
    'FORBIDDEN',
    'Hard limits are for owners of the organization and super admins of the platform alone: ask one of them, or set a soft limit.',
  )
}

/** @throws FORBIDDEN unless the viewer administers the platform */
export function requirePlatformReader(viewer: Viewer): void {
  if (isPerson(viewer) && viewer.roles.some(role => platformReaders.includes(role))) return
  throw new DomainError(
    'FORBIDDEN',
    'Spend limits of the platform are shown to its admins alone: switch to the organization "admin", or ask for level ORGANIZATION.',
  )
}

/** @throws FORBIDDEN unless the viewer is a super admin of the platform, in its organization */
export function requirePlatformChanger(viewer: Viewer): void {
  if (isSuperAdmin(viewer)) return
  throw new DomainError('FORBIDDEN', 'Spend limits of the platform are changed by its super admins alone, in the organization "admin": ask one of them.')
}

/** A scope from an input. */
export interface GivenScope {
  readonly level: Level
  readonly scopeType: SpendScopeType
  readonly scopeValue: string
}

/** Checks that the value of a scope exists. */
export interface Known {
  app(appId: string): Promise<boolean>
  member(userId: string): Promise<boolean>
}

/**
 * Reads the scope of a limit.
 * @param organizationId the active one
 * @throws BAD_USER_INPUT for an invalid value of the scope; NOT_FOUND for an organization that is not the active one,
 * and for a person who is not a member of it
 */
export async function readScope({ level, scopeType, scopeValue }: GivenScope, organizationId: string, known: Known): Promise<string> {
  const value = scopeValue.trim()
  const nobody = (what: string): never => {
    throw new DomainError('NOT_FOUND', `${what} ${value} is not known here.`, { field: 'scopeValue' })
  }
  switch (scopeType) {
    case 'PLATFORM':
      if (level !== 'PLATFORM') refuse('scopeType', 'scopeType PLATFORM is for limits of level PLATFORM: an organization limits itself with ORGANIZATION.')
      if (value !== 'platform') refuse('scopeValue', 'scopeValue of scope PLATFORM is "platform".')
      return value
    case 'PLATFORM_CREDENTIALS':
      if (level !== 'PLATFORM') refuse('scopeType', 'scopeType PLATFORM_CREDENTIALS is for limits of level PLATFORM: those who run the platform set it.')
      if (!isId(value)) refuse('scopeValue', 'scopeValue of scope PLATFORM_CREDENTIALS is the id of an organization.')
      return value.toLowerCase()
    case 'ORGANIZATION':
    case 'USER': {
      if (!isId(value)) refuse('scopeValue', `scopeValue of scope ${scopeType} is an id.`)
      const id = value.toLowerCase()
      if (level === 'PLATFORM') return id
      if (scopeType === 'ORGANIZATION' && id !== organizationId) nobody('The organization')
      if (scopeType === 'USER' && !(await known.member(id))) nobody('A member')
      return id
    }
    case 'APP':
      if (!(await known.app(value)))
        refuse('scopeValue', 'scopeValue names no app that is known here: give the id of a registered app or a service client, such as app_publishing.')
      return value
    case 'PROVIDER_FAMILY':
      if (!(families as readonly string[]).includes(value)) refuse('scopeValue', `scopeValue of scope PROVIDER_FAMILY is one of ${families.join(', ')}.`)
      return value
    case 'MODEL':
      if (value.length < 1 || value.length > longestModel || /[\p{Cc}\s]/u.test(value) || !value.includes('/') || !value.isWellFormed())
        refuse('scopeValue', 'scopeValue of scope MODEL is the name of a model, such as openai/gpt-5-mini.')
      return value
  }
}

/** An amount from an input. */
export type GivenMicros = bigint | number | string | null | undefined

/**
 * Reads an amount; undefined stays undefined. @throws BAD_USER_INPUT with the `field` for an amount below 0 or above
 * the maximum
 */
export function readMicros(given: GivenMicros, field: string): bigint | null | undefined {
  if (given === null || given === undefined) return given
  const micros = BigInt(given)
  if (micros < 0n || micros > mostMicros) refuse(field, `${field} takes 0 to ${mostMicros} micro-dollars.`)
  return micros
}

/** @throws BAD_USER_INPUT for a limit without any amount */
export function requireLimit({ softLimitMicros, hardLimitMicros }: Pick<SpendLimitRow, 'softLimitMicros' | 'hardLimitMicros'>): void {
  if (softLimitMicros === null && hardLimitMicros === null)
    refuse('softLimitMicros', 'softLimitMicros or hardLimitMicros has to be given: without both there is nothing to limit. Remove the limit instead.')
}

/** Reads a note; undefined stays undefined, an empty one is none. @throws BAD_USER_INPUT */
export function readNote(given: string | null | undefined): string | null | undefined {
  if (given === null || given === undefined) return given
  const note = given.trim()
  if ([...note].length > longestNote || note.includes('\0') || !note.isWellFormed()) refuse('note', `note takes at most ${longestNote} characters.`)
  return note === '' ? null : note
}

export const periods: readonly SpendPeriod[] = ['DAY', 'MONTH', 'TOTAL']
/** All scope types, from the widest on. */
export const scopeTypes: readonly SpendScopeType[] = ['PLATFORM', 'ORGANIZATION', 'APP', 'USER', 'PROVIDER_FAMILY', 'MODEL', 'PLATFORM_CREDENTIALS']

/** Returns the hard limits that a viewer may set. @throws FORBIDDEN for a viewer who may set none */
export function hardLimitOptions(viewer: Viewer) {
  requireGovernor(viewer)
  return scopeTypes.flatMap(scopeType => {
    const levels: Level[] = []
    if (scopeType !== 'PLATFORM' && scopeType !== 'PLATFORM_CREDENTIALS') levels.push('ORGANIZATION')
    if (isSuperAdmin(viewer)) levels.push('PLATFORM')
    return levels.length === 0 ? [] : [{ scopeType, levels, periods, minMicros: 0n, maxMicros: mostMicros }]
  })
}
