import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { providerNameOf } from '../../engines/models/candidates.ts'
import type { Attempt, Candidate } from '../../engines/models/engine.ts'
import type { Usage } from '../../engines/models/prices.ts'
import type { CredentialInUse, CredentialsInUse } from '../../engines/third-party/credentials.ts'
import type { Cooldowns } from './cooldown.ts'
import { AttemptFailure, failureOfWay, restOf } from './failure.ts'

export interface AttemptsOptions<C extends Candidate, Answer> {
  /** Candidates in the order in which they are tried, one attempt each. */
  readonly candidates: readonly C[]
  /** Returns the credential for a candidate; null skips the candidate. */
  credentialOf(candidate: C): Promise<CredentialInUse | null>
  /**
   * Calls one candidate, once. It resolves with the call's answer; for a stream its first event has arrived.
   * @throws AttemptFailure, or an OutboundFailure of the outbound client
   */
  attempt(candidate: C, credential: CredentialInUse, secret: string): Promise<Answer>
  /** Aborts when the caller leaves: then no further candidate is tried. */
  readonly signal: AbortSignal
  readonly cooldowns: Cooldowns
  /** Organization of the call: failures put candidates in cooldown for it. */
  readonly organizationId: string
  /** Whether the caller has shortened the time of an attempt: a time-out then says nothing about the provider. */
  readonly isHurried: boolean
  /**
   * Returns the minimum cost of an attempt that a candidate accepted and did not answer well, in whole micro-dollars;
   * null without a known price.
   * @param used usage reported by the candidate; null without any
   */
  leastCostOf(candidate: C, used: Usage | null): Promise<bigint | null>
  /**
   * Whether spend limits cover a candidate in addition to what unanswered attempts may still cost. Only called after
   * such an attempt.
   */
  isCovered(candidate: C): Promise<boolean>
}

export type AttemptsEnd<C extends Candidate, Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly candidate: C; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'refused'; readonly refusal: DomainError; readonly attempts: readonly Attempt[] }
  /** The caller left meanwhile. */
  | { readonly kind: 'left'; readonly attempts: readonly Attempt[] }

export interface AttemptsDeps {
  readonly clock: Clock
  /** Notified of the results of credentials; never waited for. */
  readonly credentials: Pick<CredentialsInUse, 'note'>
  /** Counts an attempt. @param outcome `answered`, or the name of the failure */
  counted(provider: string, outcome: string, latencyMs: number): void
}

/** Why a candidate gave no answer: it is limited for a number of ms, or something else is wrong. */
type Verdict = { readonly waitMs: number } | 'failed' | 'no_credential'

/**
 * Tries the candidates of a call in order, one attempt each; a candidate in cooldown is skipped. After a 401 a former
 * secret within its grace period is tried, as a second attempt of the same candidate. Nothing else is repeated
 * anywhere.
 */
export type RunAttempts = <C extends Candidate, Answer>(options: AttemptsOptions<C, Answer>) => Promise<AttemptsEnd<C, Answer>>

export function createAttempts({ clock, credentials, counted }: AttemptsDeps): RunAttempts {
  const nowMs = () => clock.now().getTime()
  return async ({ candidates, credentialOf, attempt, signal, cooldowns, organizationId, isHurried, leastCostOf, isCovered }) => {
    const attempts: Attempt[] = []
    const verdicts: Verdict[] = []
    let mayCostMore = false
    for (const candidate of candidates) {
      const credential = await credentialOf(candidate)
      if (signal.aborted) return { kind: 'left', attempts }
      if (credential === null) {
        verdicts.push('no_credential')
        continue
      }
      const who = { credentialId: credential.id, model: candidate.name, organizationId }
      const rest = cooldowns.restOf(who, nowMs())
      if (rest) {
        verdicts.push(rest.isLimit ? { waitMs: rest.until - nowMs() } : 'failed')
        continue
      }
      // A candidate that the budget does not cover is skipped: the call ends as it would without this candidate.
      if (mayCostMore && !(await isCovered(candidate))) continue
      let failure: AttemptFailure | undefined
      for (const secret of credential.secrets) {
        if (secret === undefined) continue
        const began = performance.now()
        const tried = async (status: number | null, name: string | null, mayCost: boolean, used: Usage | null = null) => {
          const latencyMs = Math.round(performance.now() - began)
          counted(candidate.provider, name ?? 'answered', latencyMs)
          const cost = mayCost ? { costMicros: digits(await leastCostOf(candidate, used)) } : {}
          attempts.push({ provider: providerNameOf(candidate), model: candidate.name, status, failure: name, latencyMs, ...cost })
          mayCostMore ||= mayCost
        }
        try {
          const answer = await attempt(candidate, credential, secret)
          await tried(200, null, false)
          await cooldowns.worked(who)
          credentials.note(credential, secret, 'taken')
          return { kind: 'answered', answer, candidate, attempts }
        } catch (error) {
          if (signal.aborted || (error instanceof OutboundFailure && error.kind === 'left')) {
            await tried(null, 'left', mayCost(error))
            return { kind: 'left', attempts }
          }
          failure = failureOfWay(error)
          await tried(failure.status, failure.failure, failure.mayCost, failure.used)
          if (failure.failure === 'refused_credential') credentials.note(credential, secret, 'refused', failure.message)
          if (failure.failure !== 'refused_credential' || failure.status !== 401) break
        }
      }
      if (!failure) continue
      if (!failure.moves) {
        const { message, param, providerCode } = failure
        const details = { reason: 'refused_by_provider', ...(param && { field: param }), ...(providerCode && { providerCode }) }
        return { kind: 'refused', refusal: new DomainError('BAD_USER_INPUT', message, details), attempts }
      }
      if (!failure.isProviders || (isHurried && failure.failure === 'timeout')) {
        verdicts.push('failed')
        continue
      }
      const restMs = restOf(failure)
      // Waits until the cooldown is stored, so that a client that sees this failure finds the candidate resting in
      // every process.
      await (restMs === null ? cooldowns.failed(who, nowMs()) : cooldowns.limited(who, restMs, nowMs()))
      verdicts.push(restMs === null ? 'failed' : { waitMs: restMs })
    }
    return { kind: 'refused', refusal: endOf(verdicts), attempts }
  }
}

const digits = (micros: bigint | null): string | null => (micros === null ? null : `${micros}`)

/** Whether an attempt that ended with this error may cost something, also when its caller left. */
const mayCost = (error: unknown): boolean => (error instanceof OutboundFailure ? error.sent : error instanceof AttemptFailure && error.mayCost)

/** Returns the error for the caller when no candidate answered. */
function endOf(verdicts: readonly Verdict[]): DomainError {
  const tried = verdicts.filter(each => each !== 'no_credential')
  if (tried.length === 0)
    return new DomainError('UPSTREAM_FAILED', 'There is no credential for any provider of this model: set one, or ask the platform to.', {
      reason: 'no_credential',
    })
  const waits = tried.map(each => (each === 'failed' ? Number.POSITIVE_INFINITY : each.waitMs))
  if (waits.some(wait => wait === Number.POSITIVE_INFINITY))
    return new DomainError('UPSTREAM_FAILED', 'None of the models that may answer did: try again in a moment.', { reason: 'no_answer' })
  const retryAfter = Math.max(1, Math.ceil(Math.min(...waits) / 1000))
  return new DomainError('RATE_LIMITED', `The models that may answer are limited by their providers: ask again in ${retryAfter} s.`, { retryAfter })
}
