import { DomainError } from '../../../../platform/errors.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Reaches } from '../../../../platform/outbound/public.ts'
import type { StreamOutbound } from '../../../../platform/outbound/stream.ts'
import type { FormFile } from './form.ts'
import { largestFile } from './request.ts'

/** Time limits of fetching a recording in ms: until its first byte, between two pieces, and in all. */
const times = { firstByteMs: 10_000, idleMs: 10_000, totalMs: 60_000 } as const
const mostRedirects = 3

const refuse = (sentence: string): DomainError => new DomainError('BAD_USER_INPUT', `audioUrl ${sentence}`, { field: 'audioUrl' })

/** Dependencies for fetching a recording. */
export interface Fetching {
  readonly stream: StreamOutbound
  /** Whether a caller may have an address called: places inside that the operator calls are the operator's alone. */
  readonly reaches: Reaches
}

const inside = (): DomainError => refuse('leads to no place that can be called from here: name a public address.')

/**
 * Fetches a recording. Each address of a redirect is checked, and a private one is not called.
 * @throws BAD_USER_INPUT with `field` audioUrl: for an unusable address, a missing recording, or one that is too large
 * or too slow
 */
export async function fetchRecording({ stream, reaches }: Fetching, address: URL, signal: AbortSignal): Promise<FormFile> {
  const endsAt = performance.now() + times.totalMs
  let from = address
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    if (!/^https?:$/.test(from.protocol) || from.username || from.password) throw refuse('must be an address of HTTP, without a user.')
    if (!(await reaches(from))) throw inside()
    const totalMs = Math.max(1, endsAt - performance.now())
    const answer = await stream(from, { ...times, totalMs, mostBytes: largestFile, signal }).catch(error => {
      throw failed(error)
    })
    const next = answer.headers.get('location')
    if (answer.status >= 300 && answer.status < 400 && next !== null && URL.canParse(next, from.href)) {
      answer.cancel()
      from = new URL(next, from)
      continue
    }
    if (answer.status !== 200) {
      answer.cancel()
      throw refuse(`leads to no recording: it answers with status ${answer.status}.`)
    }
    const parts: Uint8Array[] = []
    try {
      for await (const part of answer.body) parts.push(part)
    } catch (error) {
      throw failed(error)
    }
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    return { name: decoded(from.pathname.split('/').at(-1) ?? ''), type: answer.headers.get('content-type')?.split(';')[0] ?? '', bytes }
  }
  throw refuse(`is led on more than ${mostRedirects} times: name where the recording lies.`)
}

/** Error for the caller, which reveals nothing more about the address. */
function failed(error: unknown): unknown {
  if (!(error instanceof OutboundFailure)) return error
  if (error.kind === 'left') return error
  if (error.kind === 'large') return refuse(`leads to more than ${largestFile} bytes, the most that a recording may have.`)
  if (error.kind === 'late') return refuse('answers too slowly: the recording did not come in time.')
  return inside()
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
