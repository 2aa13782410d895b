import type { Clock } from '../../../../platform/clock.ts'
import { Refusal } from '../../../../platform/errors.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { providerNameOf } from '../../engines/models/candidates.ts'
import type { Attempt, Candidate } from '../../engines/models/engine.ts'
import type { Usage } from '../../engines/models/prices.ts'
import type { CredentialInUse, CredentialsInUse } from '../../engines/third-party/credentials.ts'
import type { Cooldowns } from './cooldown.ts'
import { AttemptFailure, failureOfWay, restOf } from './failure.ts'

export interface AttemptsOptions<C extends Candidate, Answer> {
  /** In the order in which they are tried: one attempt each. */
  readonly candidates: readonly C[]
  /** Null: there is none, and the candidate is passed over. */
  credentialOf(candidate: C): Promise<CredentialInUse | null>
  /**
   * Asks one candidate, once. What it resolves with is the call's answer: when that is a stream, its first event is there.
   * @throws AttemptFailure, or OutboundFailure as the way out throws it
   */
  attempt(candidate: C, credential: CredentialInUse, secret: string): Promise<Answer>
  /** Aborted when whoever asked goes away: then nobody else is tried. */
  readonly signal: AbortSignal
  readonly cooldowns: Cooldowns
  /** The organization of the call: failures put candidates in cooldown for it. */
  readonly organizationId: string
  /** Whether the caller has shortened the time of an attempt: running out of it then says nothing of the provider. */
  readonly isHurried: boolean
  /**
   * What an attempt costs at least that a candidate took and did not answer well, in whole micro-dollars; null: nobody knows a price.
   * @param used what the candidate counted for it; null where it counted nothing
   */
  leastCostOf(candidate: C, used: Usage | null): Promise<bigint | null>
  /** Whether spend limits cover a candidate beside what attempts without an answer may still cost. Asked only after such an attempt. */
  isCovered(candidate: C): Promise<boolean>
}

export type AttemptsEnd<C extends Candidate, Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly candidate: C; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly attempts: readonly Attempt[] }
  /** Whoever asked went away meanwhile. */
  | { readonly kind: 'left'; readonly attempts: readonly Attempt[] }

export interface AttemptsDeps {
  readonly clock: Clock
  /** Told what became of credentials; never waited for. */
  readonly credentials: Pick<CredentialsInUse, 'note'>
  /** Counts. @param outcome `answered`, or the name of the failure */
  counted(provider: string, outcome: string, latencyMs: number): void
}

/** Why a candidate gave no answer: it is limited for so many ms, or something else is wrong. */
type Verdict = { readonly waitMs: number } | 'failed' | 'no_credential'

/**
 * Tries the candidates of a call in order, one attempt each; one that rests is passed over. After a 401 an old secret in its grace is
 * tried, as a second attempt of the same candidate. Nothing else is repeated anywhere.
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
      // What is not covered is not tried: the call ends as it would without this candidate.
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
        return { kind: 'refused', refusal: new Refusal('BAD_USER_INPUT', message, details), attempts }
      }
      if (!failure.isProviders || (isHurried && failure.failure === 'timeout')) {
        verdicts.push('failed')
        continue
      }
      const restMs = restOf(failure)
      // Whoever is told of this failure finds the candidate resting, whichever process they ask next.
      await (restMs === null ? cooldowns.failed(who, nowMs()) : cooldowns.limited(who, restMs, nowMs()))
      verdicts.push(restMs === null ? 'failed' : { waitMs: restMs })
    }
    return { kind: 'refused', refusal: endOf(verdicts), attempts }
  }
}

const digits = (micros: bigint | null): string | null => (micros === null ? null : `${micros}`)

/** Whether an attempt that ended by this error may cost something, also when its caller left. */
const mayCost = (error: unknown): boolean => (error instanceof OutboundFailure ? error.sent : error instanceof AttemptFailure && error.mayCost)

/** What the caller is told when nobody answered. */
function endOf(verdicts: readonly Verdict[]): Refusal {
  const tried = verdicts.filter(each => each !== 'no_credential')
  if (tried.length === 0)
    return new Refusal('UPSTREAM_FAILED', 'There is no credential for any provider of this model: set one, or ask the platform to.', {
      reason: 'no_credential',
    })
  const waits = tried.map(each => (each === 'failed' ? Number.POSITIVE_INFINITY : each.waitMs))
  if (waits.some(wait => wait === Number.POSITIVE_INFINITY))
    return new Refusal('UPSTREAM_FAILED', 'None of the models that may answer did: try again in a moment.', { reason: 'no_answer' })
  const retryAfter = Math.max(1, Math.ceil(Math.min(...waits) / 1000))
  return new Refusal('RATE_LIMITED', `The models that may answer are limited by their providers: ask again in ${retryAfter} s.`, { retryAfter })
}
