import type { Platform } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { RefusalReason } from '../network/publication.ts'

export type FailureCode =
  | Exclude<RefusalReason, 'ACCESS_EXPIRED'>
  | 'NO_CONNECTION'
  | 'CONNECTION_EXPIRED'
  | 'NETWORK_UNAVAILABLE'
  | 'OUTCOME_UNKNOWN'
  | 'NOT_DELIVERED'

/** Explains each failure and what to do next, for `failure.code`. */
export const failureSentence: Readonly<Record<FailureCode, (network: string, detail: string) => string>> = {
  NO_CONNECTION: network => `The brand has no active connection to ${network}: connect an account, then reschedule the post.`,
  CONNECTION_EXPIRED: (network, detail) =>
    `${network} does not accept the connection any more (${detail}): connect the account again, then reschedule the post.`,
  DUPLICATE_CONTENT: network => `${network} already has a post of this account with the same text: change the text, then reschedule the post.`,
  RATE_LIMITED: (network, detail) => `${network} limits how much this account may post (${detail}): reschedule the post for later.`,
  CONTENT_REFUSED: (network, detail) => `${network} does not take this text (${detail}): change it, then reschedule the post.`,
  NETWORK_REFUSED: (network, detail) => `${network} refused the post (${detail}): correct what it names, then reschedule the post.`,
  TARGET_UNAVAILABLE: (network, detail) => `${network} takes no posts at that place (${detail}): choose another one, then reschedule the post.`,
  MEDIA_FAILED: (network, detail) => `${network} could not take a medium of the post (${detail}): replace it, then reschedule the post.`,
  BUDGET_EXCEEDED: (network, detail) =>
    `${network} was not called, because a spend limit of the organization is reached (${detail}): raise the limit, then reschedule the post.`,
  NETWORK_UNAVAILABLE: (network, detail) => `${network} could not be reached (${detail}): reschedule the post.`,
  OUTCOME_UNKNOWN: (network, detail) =>
    `${network} did not say whether it published the post (${detail}). The platform is checking; the post is not sent again. If you see it there, or know that it is not there, say so with resolveDelivery.`,
  NOT_DELIVERED: network => `The post is not on ${network}: reschedule it.`,
}

/** The failure fields of a post. */
export function failure(code: FailureCode, platform: Platform, detail: string, now: Date) {
  return { failureCode: code, failureMessage: failureSentence[code](everyNetwork[platform].title, detail), failedAt: now }
}

/** Returns the failure fields of a post of unknown outcome on a network that cannot be asked about it. */
export function unaskable(platform: Platform, detail: string, now: Date) {
  const { title } = everyNetwork[platform]
  const failureMessage = `${title} did not say whether it published the post (${detail}), and cannot be asked; the post is not sent again. Check there, and record with resolveDelivery whether it was published.`
  return { ...failure('OUTCOME_UNKNOWN', platform, detail, now), failureMessage }
}

export type FailureCategory = 'ACCESS' | 'CONTENT' | 'LIMIT' | 'NETWORK' | 'UNKNOWN'

/** Properties of a kind of failure. */
export interface FailureKind {
  readonly category: FailureCategory
  readonly advice: string
  /** Whether the unchanged post may be sent again. */
  readonly retryable: boolean
}

/** The table behind `failure.category`, `advice` and `retryable`. */
export const failureKinds: Readonly<Record<FailureCode, FailureKind>> = {
  NO_CONNECTION: { category: 'ACCESS', retryable: false, advice: 'Connect an account of the network, then publish the post again.' },
  CONNECTION_EXPIRED: { category: 'ACCESS', retryable: false, advice: 'Connect the account again, then publish the post again.' },
  TARGET_UNAVAILABLE: { category: 'ACCESS', retryable: false, advice: 'Choose another place on the network, then publish the post again.' },
  DUPLICATE_CONTENT: { category: 'CONTENT', retryable: false, advice: 'Change the text, then publish the post again.' },
  CONTENT_REFUSED: { category: 'CONTENT', retryable: false, advice: 'Change what the network does not take, then publish the post again.' },
  MEDIA_FAILED: { category: 'CONTENT', retryable: false, advice: 'Replace the medium, then publish the post again.' },
  RATE_LIMITED: { category: 'LIMIT', retryable: true, advice: 'Schedule the post for later.' },
  BUDGET_EXCEEDED: { category: 'LIMIT', retryable: false, advice: 'Have the spend limit raised, then publish the post again.' },
  NETWORK_REFUSED: { category: 'NETWORK', retryable: false, advice: 'Correct what the network names, then publish the post again.' },
  NETWORK_UNAVAILABLE: { category: 'NETWORK', retryable: true, advice: 'Publish the post again.' },
  NOT_DELIVERED: { category: 'NETWORK', retryable: true, advice: 'Publish the post again: it is not on the network.' },
  OUTCOME_UNKNOWN: { category: 'UNKNOWN', retryable: false, advice: 'Look on the network whether the post is there, and say so with resolveDelivery.' },
}

/** Returns the kind of a stored code; a code unknown to this version counts as the network's own. */
export const kindOfFailure = (code: string): FailureKind => (failureKinds as Readonly<Record<string, FailureKind>>)[code] ?? failureKinds.NETWORK_REFUSED
