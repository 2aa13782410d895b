import type { OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import type { Handle, Medium } from '../publication.ts'
import { inParts } from '../wire/upload.ts'
import { type Asking, type Calls, type No, noOf, unanswered } from './calls.ts'

/**
 * Parts other than the last must be a multiple of this number of bytes:
 * https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol
 */
const unit = 256 * 1024
/** Maximum size of a part, in bytes. */
const partBytes = 32 * unit
/** Timeout of a part, in ms. */
const partTimeoutMs = 60_000
/** Number of times that an interrupted upload continues at once. */
const mostCuts = 3

/** An open upload without its last bytes, before which YouTube publishes nothing. */
export interface Session {
  /** Query of the upload's address. */
  readonly query: string
  /** Size of the film in bytes. */
  readonly bytes: number
  /** Offset of the last part; null while it is unknown because earlier parts are missing. */
  readonly last: number | null
}

export const sessionIn = (handle: Handle | null): Session | null => {
  const { query, bytes, last } = handle ?? {}
  return typeof query === 'string' && typeof bytes === 'number' ? { query, bytes, last: typeof last === 'number' ? last : null } : null
}

export const handleOf = ({ query, bytes, last }: Session): Handle => ({ query, bytes, last })

const path = 'upload/youtube/v3/videos'

/** Returns the offset of the last part, which is short so that the publishing call is short too. */
export const lastOf = (bytes: number, from: number): number => bytes - (((bytes - from - 1) % unit) + 1)

/** Returns the number of bytes that YouTube has received. */
export function gotOf({ headers }: OutboundAnswer): number {
  const [, last] = /^bytes=0-(\d+)$/.exec(headers.get('range') ?? '') ?? []
  return last === undefined ? 0 : Number(last) + 1
}

export function createSessions(calls: Calls) {
  /** Starts an upload. @param facts the film's title and visibility */
  async function begin(asking: Asking, facts: object, film: Medium): Promise<Session | No> {
    const answer = await calls.ask(asking, `${path}?uploadType=resumable&part=snippet,status`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=UTF-8',
        'x-upload-content-length': String(film.bytes),
        'x-upload-content-type': film.mimeType,
      },
      body: JSON.stringify(facts),
    })
    const location = answer.headers.get('location')
    const query = location !== null && URL.canParse(location) ? new URL(location).search.slice(1) : ''
    // Only the path and query of the address are used: the service's token goes nowhere else.
    if (answer.status === 200 && query) return { query, bytes: film.bytes, last: null }
    return answer.status === 200 ? { outcome: 'unsent', detail: 'YouTube began an upload without an address' } : noOf(answer)
  }

  /** Sends a part; YouTube answers with its progress and 308, or with the film's data once the film is complete. */
  const put = (asking: Asking, { query, bytes }: Session, from: number, part: Uint8Array, mimeType: string, timeoutMs = partTimeoutMs) =>
    calls.ask(asking, `${path}?${query}`, {
      method: 'PUT',
      headers: {
        'content-type': mimeType,
        'content-length': String(part.length),
        'content-range': `bytes ${from}-${from + part.length - 1}/${bytes}`,
      },
      body: part,
      timeoutMs,
    })

  return {
    begin,
    put,

    /** Asks YouTube for an upload's progress. */
    progress: (asking: Asking, { query, bytes }: Session): Promise<OutboundAnswer> =>
      calls.ask(asking, `${path}?${query}`, { method: 'PUT', headers: { 'content-length': '0', 'content-range': `bytes */${bytes}` } }),

    /** Returns the bytes of a film's last part, after reading past all earlier bytes. */
    async lastPart(film: Medium, last: number): Promise<Uint8Array> {
      const parts = inParts(await film.open())
      try {
        for (let at = 0; at < last; at += partBytes) await parts.take(Math.min(partBytes, last - at))
        return await parts.take(film.bytes - last)
      } finally {
        await parts.close()
      }
    },

    /**
     * Sends all of a film but its last part, from where YouTube has it on. An interrupted upload asks for its position and continues, a
     * few times.
     * @param from bytes that YouTube has
     * @param keep takes the bytes of the last part
     * @returns the session with its last part, or what came between: `unsent` where it can go on later
     */
    async fill(asking: Asking, session: Session, film: Medium, from: number, keep: (last: Uint8Array) => void): Promise<Session | No> {
      const last = lastOf(film.bytes, from)
      let got = from
      for (let cuts = 0; ; cuts += 1) {
        const end = await this.fillOnce(asking, session, film, got, last, keep)
        if (end === null) return { ...session, last }
        if (end.outcome === 'refused' || cuts >= mostCuts) return end.outcome === 'refused' ? end : { outcome: 'unsent', detail: end.detail }
        const asked = await this.progress(asking, session).catch(() => null)
        if (asked?.status === 308) got = Math.min(gotOf(asked), last)
      }
    },

    /** @returns null when everything except the last part is uploaded */
    async fillOnce(asking: Asking, session: Session, film: Medium, from: number, last: number, keep: (last: Uint8Array) => void): Promise<No | null> {
      const parts = inParts(await film.open())
      try {
        for (let at = 0; at < last; ) {
          // Skips the bytes that YouTube already has.
          const length = Math.min(partBytes, (at < from ? from : last) - at)
          const part = await parts.take(length)
          if (at >= from) {
            const answer = await put(asking, session, at, part, film.mimeType).catch(unanswered)
            if ('outcome' in answer) return answer
            if (answer.status !== 308) return noOf(answer)
            if (gotOf(answer) !== at + length) return { outcome: 'unknown', detail: 'YouTube has less of the film than was sent' }
          }
          at += length
        }
        keep(await parts.take(film.bytes - last))
        return null
      } finally {
        await parts.close()
      }
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>
