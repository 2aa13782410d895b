import type { Clock } from '../../../../platform/clock.ts'
import type { StreamedAnswer, StreamOutbound } from '../../../../platform/outbound/stream.ts'
import { isUnwieldy } from '../../../http/depth.ts'
import type { Candidate, Upstream } from '../../engines/models/engine.ts'
import type { Addresses } from '../../engines/third-party/addresses.ts'
import { isModelVendor, type ModelVendor } from '../../engines/third-party/catalogue.ts'
import type { CredentialInUse } from '../../engines/third-party/credentials.ts'
import type { AiTimes } from '../../registration.ts'
import { AttemptFailure, failureOf, failureOfWay } from './failure.ts'

/** Protocols of model vendors. */
export type Wire = 'openai' | 'anthropic'

export const wireOf = ({ provider }: Pick<Candidate, 'provider'>): Wire => (provider === 'anthropic' ? 'anthropic' : 'openai')

/** Maximum bytes of a provider's answer, and of an error's body that are read. */
const most = { answer: 32 * 1024 * 1024, error: 64 * 1024 } as const

export interface UpstreamDeps {
  readonly stream: StreamOutbound
  readonly addresses: Pick<Addresses, ModelVendor | 'aiGateway'>
  readonly times: AiTimes
  readonly clock: Clock
}

/** Path of each vendor at the hosting platform's model gateway. */
const behindGateway: Readonly<Record<string, string>> = { openai: '/openai', anthropic: '/anthropic', google: '/google-ai-studio/v1beta/openai' }

export function createUpstream({ stream, addresses, times, clock }: UpstreamDeps): Upstream {
  const { aiGateway } = addresses

  /**
   * Returns the address of a provider. The route is configured; only a custom provider's credential has its own
   * address.
   */
  const placeOf = ({ provider }: Candidate, { baseUrl }: CredentialInUse): { base: string; headers: Record<string, string>; isBehind: boolean } => {
    const way = behindGateway[provider]
    if (aiGateway && way) {
      const headers = aiGateway.token === null ? {} : { 'cf-aig-authorization': `Bearer ${aiGateway.token}` }
      return { base: aiGateway.url + way, headers, isBehind: true }
    }
    const base = isModelVendor(provider) ? addresses[provider] : baseUrl
    if (base === null) throw new AttemptFailure('unreachable', null, `No address of ${provider} is configured.`)
    return { base, headers: {}, isBehind: false }
  }

  const ask: Upstream['ask'] = async (candidate, credential, secret, question, timing) => {
    const { base, headers, isBehind } = placeOf(candidate, credential)
    const left = Math.round(timing.endsAt - performance.now())
    // Without time left, the request would be paid for although nobody could use its answer.
    if (left < 1) throw new AttemptFailure('timeout', null, 'The call has used its time up.', { sent: false })
    const attemptMs = Math.min(timing.attemptMs ?? left, left)
    const isStream = question.type === 'text/event-stream'
    const answer = await stream(base + question.path, {
      method: 'POST',
      headers: { ...headers, ...authorization(candidate, secret), accept: [question.type].flat().join(', '), ...question.headers },
      body: question.body,
      firstByteMs: Math.min(times.firstByteMs, attemptMs),
      idleMs: times.idleMs,
      // A stream that has begun is the caller's: what they give an attempt is for its beginning.
      totalMs: isStream ? left : attemptMs,
      mostBytes: most.answer,
      signal: timing.signal,
    }).catch((error: unknown) => {
      throw failureOrLeft(error)
    })
    if (answer.status < 200 || answer.status > 299) {
      const said = await textOf(answer, most.error)
      if (isBehind && [401, 403].includes(answer.status) && isGateways(said))
        throw new AttemptFailure('server_error', answer.status, 'The gateway before the provider refused the call.')
      throw failureOf(answer.status, answer.headers, said, clock.now().getTime(), [secret, aiGateway?.token ?? null])
    }
    const type = /^[^;\s]*/.exec(answer.headers.get('content-type') ?? '')![0].toLowerCase()
    if ([question.type].flat().includes(type)) return answer
    answer.cancel()
    throw new AttemptFailure('wrong_type', answer.status, 'The provider answered in a form that its protocol does not have.')
  }

  return {
    ask,
    async askJson(candidate, credential, secret, question, timing) {
      const answer = await ask(candidate, credential, secret, { ...question, type: 'application/json' }, timing)
      const bytes = await bytesOf(answer)
      if (isUnwieldy(bytes)) throw malformed(answer.status)
      try {
        const json: unknown = JSON.parse(bytes.toString('utf8'))
        if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { headers: answer.headers, json: json as Record<string, unknown> }
      } catch {
        // An unreadable body has no message; the sentence below suffices.
      }
      throw malformed(answer.status)
    },
  }
}

/**
 * Whether an error comes from the model gateway itself: it says nothing about the credential of the provider behind it.
 */
function isGateways(said: string): boolean {
  try {
    const { success, error, errors } = JSON.parse(said) as { success?: unknown; error?: unknown; errors?: unknown }
    return success === false && Array.isArray(error ?? errors)
  } catch {
    return false
  }
}

export const malformed = (status: number | null): AttemptFailure =>
  new AttemptFailure('malformed', status, 'The provider answered in a form that its protocol does not have.')

const authorization = (candidate: Candidate, secret: string): Readonly<Record<string, string>> =>
  wireOf(candidate) === 'anthropic' ? { 'x-api-key': secret, 'anthropic-version': '2023-06-01' } : { authorization: `Bearer ${secret}` }

/** Converts an outbound failure to an attempt's failure; a caller's leaving stays as it is. */
function failureOrLeft(error: unknown): unknown {
  if ((error as { kind?: string }).kind === 'left') return error
  return failureOfWay(error)
}

/** Reads an answer to its end. @throws as `ask` does */
export async function bytesOf(answer: StreamedAnswer): Promise<Buffer> {
  const parts: Uint8Array[] = []
  try {
    for await (const part of answer.body) parts.push(part)
  } catch (error) {
    throw failureOrLeft(error)
  }
  return parts.length === 1 ? Buffer.from(parts[0]!.buffer, parts[0]!.byteOffset, parts[0]!.byteLength) : Buffer.concat(parts)
}

/** Reads the beginning of an error's body; throws only when the caller has left. */
async function textOf(answer: StreamedAnswer, mostBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of answer.body) {
      parts.push(part)
      size += part.byteLength
      if (size >= mostBytes) break
    }
  } catch (error) {
    if ((error as { kind?: string }).kind === 'left') throw error
  }
  return Buffer.concat(parts).toString('utf8', 0, mostBytes)
}
