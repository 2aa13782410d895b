import type { Logger } from 'pino'
import { DomainError } from '../../../platform/errors.ts'
import { type AiModel, providerNameOf } from '../engines/models/candidates.ts'
import type { Answered, Attempt, MakeCall } from '../engines/models/engine.ts'
import type { Models } from '../engines/models/in-use.ts'
import { type Bound, believed, type Usage } from '../engines/models/prices.ts'
import type { Unclear } from '../engines/spend/booking.ts'
import type { CallCandidate, Calls, OpenCall } from '../engines/spend/order.ts'
import { isProvider } from '../engines/third-party/catalogue.ts'
import type { CredentialInUse, CredentialsInUse } from '../engines/third-party/credentials.ts'
import type { AiTimes } from '../registration.ts'
import type { Standing } from '../stores/model/standing.ts'
import type { RunAttempts } from './attempt/attempts.ts'
import type { Cooldowns } from './attempt/cooldown.ts'

export interface AiDeps {
  readonly models: Models
  readonly calls: Calls
  readonly credentials: CredentialsInUse
  readonly runAttempts: RunAttempts
  /** Returns the cooldowns for a call. @param standing null where this process knows them itself */
  cooldowns(standing: Standing | null): Cooldowns
  readonly times: AiTimes
  readonly log: Pick<Logger, 'error'>
  /** Counts one call of an organization. @throws RATE_LIMITED */
  admit(organizationId: string): Promise<void> | void
}

/** The caller has left, so nobody reads the answer. */
const leftRefusal = (): DomainError => new DomainError('UPSTREAM_FAILED', 'The client closed the connection.', { reason: 'left' })

/** Error for a strict caller when no model can be sent the whole request. */
const strictRefusal = (models: readonly AiModel[], dropped: readonly string[]): DomainError =>
  new DomainError(
    'BAD_USER_INPUT',
    `${models.map(({ name }) => name).join(', ')} cannot take ${dropped.join(', ')} as it was sent, and X-Gateway-Strict allows no answer without: leave it out, or name a model that takes it.`,
    { reason: 'unsupported_parameter', field: dropped[0] },
  )

/** Headers with the number of attempts, also on errors. */
export const attemptHeaders = (callId: string, attempts: number): Readonly<Record<string, string>> => ({
  'x-gateway-call-id': callId,
  'x-gateway-attempts': String(attempts),
})

/** Maximum count that a row can hold, above any real call's: a custom provider may report any number. */
const mostCounted = 2_000_000_000

const bounded = (usage: Usage): Usage => {
  const held = (count: number | null) => (count === null ? null : Math.min(count, mostCounted))
  return { ...usage, inputTokens: held(usage.inputTokens), outputTokens: held(usage.outputTokens), units: held(usage.units) }
}

const nothingUsed: Usage = { inputTokens: null, outputTokens: null, units: null }

export function createCalls({ models, calls, credentials, runAttempts, cooldowns, times, log, admit }: AiDeps): MakeCall {
  return async call => {
    const { caller, capability, named, fallback, mayOverride, operation, signal } = call
    const began = performance.now()
    await admit(caller.organizationId)
    const { candidates: found, standing } = await models.candidates({ capability, organizationId: caller.organizationId, named, fallback, mayOverride })
    const droppedBy = (model: AiModel) => call.dropped?.(model) ?? []
    const unfit = call.isStrict ? found.filter(model => droppedBy(model).length > 0) : []
    const candidates = found.filter(model => !unfit.includes(model))
    const unfitRefusal = unfit.length > 0 ? strictRefusal(unfit, [...new Set(unfit.flatMap(droppedBy))]) : null
    if (unfitRefusal && candidates.length === 0) throw unfitRefusal
    const funding = createFunding(credentials, caller.organizationId, standing)
    await funding.look(candidates)
    const upper = candidates.map(model => ({
      ...{ model: model.name, provider: providerNameOf(model), upperMicros: models.boundOf(model, call.bound(model, true)) },
      isOnPlatform: funding.isOnPlatform(model.name),
    }))
    const open = await calls.begin(caller, { family: 'AI', operation, requestedModel: named, candidates: upper, prompt: call.prompt })
    const unanswered = createUnanswered(upper, funding)
    const settle = settling({ open, unanswered, funding, models, began, log })
    const allowed = new Set(open.allowed)
    const end = await runAttempts({
      candidates: candidates.filter(({ name }) => allowed.has(name)),
      credentialOf: model => funding.credentialOf(model),
      attempt: (model, credential, secret) =>
        call.attempt(model, credential, secret, { endsAt: began + times.totalMs, attemptMs: call.attemptMs, signal }, open.isLimited),
      signal,
      cooldowns: cooldowns(standing),
      organizationId: caller.organizationId,
      isHurried: call.attemptMs !== null,
      leastCostOf: async (model, used) => unanswered.add(model.name, models.costOf(model, used ?? (await call.least(model))), used !== null),
      isCovered: ({ name }) => open.cover(unanswered.upperWith(name)),
    }).catch(async error => {
      await settle('FAILED', [], null, null, null)
      throw error
    })
    const { attempts } = end
    if (end.kind === 'answered') {
      const by = { model: end.candidate, bound: call.bound(end.candidate, open.isLimited), dropped: droppedBy(end.candidate) }
      return answered(settle, end.answer, by, open.id, attempts, Math.round(performance.now() - began))
    }
    await settle(end.kind === 'left' ? 'ABORTED' : 'FAILED', attempts, null, null, null)
    const refusal = end.kind === 'left' ? leftRefusal() : end.refusal
    // Another model might have answered, but not as the caller wants it.
    const { code, message, extensions } = unfitRefusal && end.kind === 'refused' && refusal.code === 'UPSTREAM_FAILED' ? unfitRefusal : refusal
    throw new DomainError(code, message, { ...extensions, callId: open.id, attempts: attempts.length })
  }
}

/** Returns credentials for the candidates of a call. */
interface Funding {
  /** Returns the present credential of a candidate; null for none. */
  credentialOf(model: Pick<AiModel, 'provider' | 'name'>): Promise<CredentialInUse | null>
  /**
   * Looks up the credentials of all candidates before the call begins. A failed lookup is repeated at the candidate's
   * turn.
   */
  look(candidates: readonly AiModel[]): Promise<void>
  /** Whether the platform's was the last that was found for a model. */
  isOnPlatform(name: string): boolean
}

function createFunding(credentials: CredentialsInUse, organizationId: string, standing: Standing | null): Funding {
  const onPlatform = new Set<string>()
  const credentialOf: Funding['credentialOf'] = async ({ provider, name }) => {
    if (!isProvider(provider)) return null
    const customName = provider === 'custom' ? name.slice(0, name.indexOf('/')) : undefined
    const credential = await credentials.resolve(provider, organizationId, customName, standing?.credentials)
    onPlatform[credential?.level === 'PLATFORM' ? 'add' : 'delete'](name)
    return credential
  }
  return {
    credentialOf,
    look: async candidates => void (await Promise.all(candidates.map(model => credentialOf(model).catch(() => null)))),
    isOnPlatform: name => onPlatform.has(name),
  }
}

/** Costs of attempts that providers accepted and did not answer. */
interface Unanswered {
  /**
   * @param isCounted whether the provider reported its charge
   * @returns the amount booked for one of them, at most the reserved amount
   */
  add(model: string, leastMicros: bigint | null, isCounted: boolean): bigint | null
  /** Returns their maximum cost, together with another model's. */
  upperWith(model: string): bigint
  /** Amount booked for all of them; null if it is unknown for one. */
  readonly costMicros: bigint | null
  /** Part of the amount that was paid with the platform's credentials. */
  readonly platformMicros: bigint
  /** Amounts that may still be charged. */
  readonly unclear: readonly Unclear[]
}

function createUnanswered(candidates: readonly CallCandidate[], { isOnPlatform }: Pick<Funding, 'isOnPlatform'>): Unanswered {
  const upperOf = (name: string): bigint => candidates.find(({ model }) => model === name)?.upperMicros ?? 0n
  const unclear: Unclear[] = []
  const costs: (bigint | null)[] = []
  let platformMicros = 0n
  return {
    add(model, leastMicros, isCounted) {
      const cost = leastMicros === null || leastMicros < upperOf(model) ? leastMicros : upperOf(model)
      if (isOnPlatform(model)) platformMicros += cost ?? 0n
      unclear.push({ model, micros: isCounted ? 0n : upperOf(model) - (cost ?? 0n), isOnPlatform: isOnPlatform(model) })
      costs.push(cost)
      return cost
    },
    upperWith: model => unclear.reduce((sum, each) => sum + upperOf(each.model), upperOf(model)),
    get costMicros() {
      return sumOf(costs)
    },
    get platformMicros() {
      return platformMicros
    },
    unclear,
  }
}

/** Returns the sum of the known costs; null where none is known. */
function sumOf(costs: readonly (bigint | null)[]): bigint | null {
  const known = costs.filter(cost => cost !== null)
  return known.length === 0 && costs.length > 0 ? null : known.reduce((sum, cost) => sum + cost, 0n)
}

/** The answering candidate, and its maximum usage. */
interface By {
  readonly model: AiModel
  readonly bound: Bound
}

type Settle = (
  status: 'SUCCEEDED' | 'FAILED' | 'ABORTED',
  attempts: readonly Attempt[],
  by: By | null,
  usage: Usage | null,
  firstByteMs: number | null,
) => Promise<bigint | null>

// The functions below remain for as long as a stream: they reference no part of the prompt.

interface Settling extends Pick<AiDeps, 'models' | 'log'> {
  readonly open: OpenCall
  readonly unanswered: Unanswered
  readonly funding: Pick<Funding, 'isOnPlatform'>
  readonly began: number
}

/**
 * Stores the result of a call. A failure to store it is logged: the answer is there, and reserved amounts are released
 * in time.
 */
function settling({ open, unanswered, funding, models, began, log }: Settling): Settle {
  return async (status, attempts, by, told, firstByteMs) => {
    const model = by?.model ?? null
    const { usage, isDoubtful } = by && told ? believed(by.model, bounded(told), by.bound) : { usage: null, isDoubtful: false }
    const own = model && usage ? [models.costOf(model, usage)] : []
    const lost = unanswered.unclear.length > 0 ? [unanswered.costMicros] : []
    const costMicros = sumOf([...own, ...lost])
    const platformMicros = unanswered.platformMicros + (model && funding.isOnPlatform(model.name) ? (own[0] ?? 0n) : 0n)
    const latencyMs = Math.round(performance.now() - began)
    const [name, provider] = model ? [model.name, providerNameOf(model)] : [null, null]
    try {
      await open.settle({
        status,
        model: name,
        provider,
        ...(usage ?? nothingUsed),
        costMicros,
        platformMicros,
        isDoubtful,
        attempts,
        unclear: unanswered.unclear,
        firstByteMs,
        latencyMs,
      })
    } catch (error) {
      log.error({ err: error, call: open.id }, 'outcome of a call could not be stored')
    }
    return costMicros
  }
}

function answered<Answer>(
  settle: Settle,
  answer: Answer,
  by: By & { readonly dropped: readonly string[] },
  callId: string,
  attempts: readonly Attempt[],
  firstByteMs: number,
): Answered<Answer> {
  const { model, dropped } = by
  return {
    answer,
    model,
    callId,
    attempts,
    dropped,
    headers: {
      ...attemptHeaders(callId, attempts.length),
      'x-gateway-provider': providerNameOf(model),
      'x-gateway-model': encodeURI(model.name),
      ...(dropped.length > 0 && { 'x-gateway-dropped': dropped.join(', ') }),
      ...(model.retiresAt && { sunset: model.retiresAt.toUTCString() }),
    },
    succeeded: usage => settle('SUCCEEDED', attempts, by, usage, firstByteMs),
    failed: async usage => void (await settle('FAILED', attempts, by, usage, firstByteMs)),
    left: async usage => void (await settle('ABORTED', attempts, by, usage, firstByteMs)),
  }
}
