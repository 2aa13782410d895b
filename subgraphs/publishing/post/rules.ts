import { DomainError } from '../../../platform/errors.ts'
import { checkText } from '../../../platform/ids.ts'
import type { Platform } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { TargetKind } from '../network/publication.ts'
import type { DeliveryPhase, PostStatus } from '../stores/post.ts'

/** Transitions of a post. Rows are states, columns are verbs. */
export const transitions = {
  DRAFT: { schedule: 'SCHEDULED', publish: 'SCHEDULED', edit: 'DRAFT', revert: 'DRAFT', delete: 'DRAFT' },
  SCHEDULED: {
    schedule: 'SCHEDULED',
    publish: 'SCHEDULED',
    edit: 'SCHEDULED',
    revert: 'DRAFT',
    cancel: 'DRAFT',
    delete: 'SCHEDULED',
    succeed: 'PUBLISHED',
    fail: 'FAILED',
  },
  // A failed post may turn out to have been delivered, which ends an unknown outcome.
  FAILED: { schedule: 'SCHEDULED', publish: 'SCHEDULED', edit: 'FAILED', revert: 'DRAFT', delete: 'FAILED', succeed: 'PUBLISHED', fail: 'FAILED' },
  PUBLISHED: {},
} as const satisfies Record<PostStatus, Partial<Record<string, PostStatus>>>

export type PostVerb = 'schedule' | 'publish' | 'edit' | 'revert' | 'cancel' | 'delete' | 'succeed' | 'fail'

/** Verbs of people: rejected while a call to the network is in progress, and after one of unknown outcome. */
const verbsOfPeople: readonly PostVerb[] = ['schedule', 'publish', 'edit', 'revert', 'cancel', 'delete']

const inWords: Record<PostVerb, string> = {
  schedule: 'scheduled',
  publish: 'published at once',
  edit: 'edited',
  revert: 'reverted to a draft',
  cancel: 'cancelled',
  delete: 'deleted',
  succeed: 'published',
  fail: 'failed',
}

/** Returns the verbs that a state allows, for clients and messages. */
export const movesFrom = (status: PostStatus): readonly PostVerb[] => Object.keys(transitions[status]) as PostVerb[]

/**
 * Returns the state after a verb.
 * @throws CONFLICT: SENDING, OUTCOME_UNKNOWN, and ILLEGAL_MOVE with the state, the verb and the possible verbs
 */
export function move(post: { status: PostStatus; deliveryPhase: DeliveryPhase }, verb: PostVerb): PostStatus {
  const { status, deliveryPhase: phase } = post
  if (verbsOfPeople.includes(verb)) {
    if (phase === 'SENDING')
      throw new DomainError('CONFLICT', `The post is being sent at this moment and cannot be ${inWords[verb]}: wait for its outcome.`, {
        reason: 'SENDING',
        status,
        deliveryPhase: phase,
      })
    if (phase === 'UNKNOWN')
      throw new DomainError(
        'CONFLICT',
        `It is not known yet whether the network has the post, so it cannot be ${inWords[verb]}: wait until the platform has checked, or record what you see there with resolveDelivery.`,
        { reason: 'OUTCOME_UNKNOWN', status, deliveryPhase: phase },
      )
  }
  const next = (transitions[status] as Partial<Record<PostVerb, PostStatus>>)[verb]
  if (next) return next
  const possible = movesFrom(status).filter(each => verbsOfPeople.includes(each))
  throw new DomainError(
    'CONFLICT',
    `A ${status} post cannot be ${inWords[verb]}. ${possible.length ? `Possible: ${possible.join(', ')}.` : 'Nothing here changes it any more; on the network it can still be deleted.'}`,
    { reason: 'ILLEGAL_MOVE', from: status, verb, possible },
  )
}

/** Maximum characters of a draft: several times the maximum of any network. */
export const longestCopy = 63_206

/**
 * Checks a text as it is stored.
 * @throws BAD_USER_INPUT
 */
export function checkCopy(copy: string | null | undefined): string {
  if (typeof copy !== 'string') throw new DomainError('BAD_USER_INPUT', 'copy cannot be null: leave it out to keep the text.', { field: 'copy' })
  if (copy.length > longestCopy)
    throw new DomainError('BAD_USER_INPUT', `copy has ${copy.length} characters: the maximum is ${longestCopy} that is kept.`, { field: 'copy' })
  return checkText(copy, 'copy')
}

/** Maximum distance of a scheduled time from now, in years: SQL does not accept years of five digits. */
const mostYears = 1000

/**
 * Checks that a scheduled time is within a thousand years.
 * @throws BAD_USER_INPUT
 */
export function checkMoment(scheduledAt: Date, now: Date): Date {
  const years = scheduledAt.getUTCFullYear() - now.getUTCFullYear()
  if (!(Math.abs(years) <= mostYears))
    throw new DomainError('BAD_USER_INPUT', `scheduledAt must lie within ${mostYears} years of today.`, { field: 'scheduledAt' })
  return scheduledAt
}

/**
 * Checks that a set time lies ahead.
 * @throws BAD_USER_INPUT
 */
export function checkSchedule(scheduledAt: Date, now: Date): Date {
  checkMoment(scheduledAt, now)
  if (scheduledAt > now) return scheduledAt
  throw new DomainError('BAD_USER_INPUT', `scheduledAt is ${scheduledAt.toISOString()}, which has passed: choose a moment in the future.`, {
    field: 'scheduledAt',
  })
}

/**
 * Checks that a network has places of this kind.
 * @throws BAD_USER_INPUT
 */
export function checkTarget<Target extends { kind: TargetKind; externalId: string; name: string | null }>(
  target: Target | null,
  platform: Platform,
): Target | null {
  if (target === null) return null
  const { title, targets } = everyNetwork[platform]
  if (!targets.includes(target.kind))
    throw new DomainError('BAD_USER_INPUT', `${title} has no ${target.kind}: ${targets.length ? `it has ${targets.join(', ')}` : 'leave the target out'}.`, {
      field: 'target',
    })
  if (!target.externalId.trim() || target.externalId.length > 200)
    throw new DomainError('BAD_USER_INPUT', 'target.externalId must be the network’s id of the place, 1 to 200 characters.', { field: 'target.externalId' })
  if ((target.name?.length ?? 0) > 200)
    throw new DomainError('BAD_USER_INPUT', 'target.name has more than 200 characters: shorten it.', { field: 'target.name' })
  checkText(target.externalId, 'target.externalId')
  if (target.name !== null) checkText(target.name, 'target.name')
  return target
}
