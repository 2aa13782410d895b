import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import { AccessExpired } from '../network.ts'
import type { Delivery, Handle, Lookup, Preparation, Publication } from '../publication.ts'
import { type Calls, type No, noOf, read, unanswered } from './calls.ts'
import { createSessions, gotOf, handleOf, type Session, sessionIn } from './session.ts'
import { tagsWithin } from './tags.ts'

/** Timeout of the last part in ms; after it, it is unknown whether YouTube received it. */
const publishTimeoutMs = 9_000
/** Delay before an interrupted upload continues, in ms. */
const goOnMs = 5_000
/** Size limit of a description on YouTube, in bytes: https://developers.google.com/youtube/v3/docs/videos#properties */
const mostDescription = 5_000
/**
 * Number of last parts kept in memory between preparing and publishing, so that a long film is not read again; another
 * process reads it again.
 */
const mostTails = 32

const people = '22'

/** Returns a film's public address. */
export const permalink = (_: string, id: string): string | null => (/^[\w-]{11}$/.test(id) ? `https://www.youtube.com/watch?v=${id}` : null)

/** Returns a film's metadata in YouTube's format; a sentence when YouTube would refuse them. */
function factsOf({ copy, link, title, tags, visibility }: Omit<Publication, 'handle'>): object | string {
  const description = link && !copy.includes(link) ? `${copy}\n\n${link}`.trim() : copy
  if (Buffer.byteLength(description) > mostDescription)
    return `With its link behind it the text is longer than YouTube takes: shorten it to ${mostDescription} bytes in all.`
  return {
    snippet: { title: title ?? '', description, tags: tagsWithin(tags), categoryId: people },
    status: { privacyStatus: (visibility ?? 'PRIVATE').toLowerCase(), selfDeclaredMadeForKids: false },
  }
}

interface Video {
  readonly id: string
  readonly status: { readonly uploadStatus?: string; readonly failureReason?: string; readonly rejectionReason?: string }
}

/** Converts YouTube's answer to a complete upload. */
function published(answer: OutboundAnswer): Delivery {
  const { id = '', status: { uploadStatus, failureReason, rejectionReason } = {} } = read<Video>(answer)
  if (uploadStatus === 'failed' || uploadStatus === 'rejected' || uploadStatus === 'deleted')
    return { outcome: 'refused', code: 'MEDIA_FAILED', detail: `YouTube could not take it: ${failureReason ?? rejectionReason ?? uploadStatus}` }
  const address = permalink('', id)
  return address === null
    ? { outcome: 'unknown', detail: 'YouTube has all of the film, and did not name it' }
    : { outcome: 'delivered', platformPostId: id, permalink: address }
}

/**
 * Creates posts of films by resumable uploads:
 * https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol
 */
export function createYoutubePublish(calls: Calls) {
  const sessions = createSessions(calls)
  const tails = new Map<string, Uint8Array>()
  const keepTail =
    ({ query }: Session) =>
    (tail: Uint8Array) => {
      tails.set(query, tail)
      const [oldest] = tails.keys()
      if (tails.size > mostTails) tails.delete(oldest!)
    }

  /** Returns an open upload with YouTube's progress; or the outcome that prevented it. */
  async function open(publication: Omit<Publication, 'handle'>, kept: Session | null): Promise<{ readonly session: Session; readonly got: number } | No> {
    const [film] = publication.media
    if (kept) {
      const answer = await sessions.progress(publication, kept)
      if (answer.status === 308) return { session: kept, got: gotOf(answer) }
      const no = noOf(answer)
      // An expired upload starts again: its last part was not sent, so there is no film.
      if (answer.status !== 404 && answer.status !== 410) return no
    }
    const facts = factsOf(publication)
    if (typeof facts === 'string') return { outcome: 'refused', code: 'CONTENT_REFUSED', detail: facts }
    const begun = await sessions.begin(publication, facts, film!)
    return 'outcome' in begun ? begun : { session: begun, got: 0 }
  }

  return {
    permalink,

    /** Uploads a film except its last bytes, which is invisible; a restarted upload leaves one that expires. */
    async prepare(publication: Omit<Publication, 'handle'>, kept: Handle | null): Promise<Preparation> {
      const [film] = publication.media
      if (film?.kind !== 'VIDEO') return { outcome: 'refused', code: 'CONTENT_REFUSED', detail: 'YouTube takes exactly one film' }
      const opened = await open(publication, sessionIn(kept)).catch(unanswered)
      if ('outcome' in opened) return opened.outcome === 'unknown' ? { outcome: 'unsent', detail: opened.detail } : opened
      const { session, got } = opened
      try {
        const filled = await sessions.fill(publication, session, film, got, keepTail(session))
        if (!('outcome' in filled)) return { outcome: 'ready', handle: handleOf(filled) }
        if (filled.outcome === 'refused') return filled
        return { outcome: 'processing', handle: handleOf(session), againInMs: goOnMs }
      } catch (error) {
        if (error instanceof OutboundFailure) return { outcome: 'unsent', detail: error.message }
        return { outcome: 'refused', code: 'MEDIA_FAILED', detail: (error as Error).message }
      }
    },

    /** Sends the last bytes, by which YouTube publishes. */
    async publish(publication: Publication): Promise<Delivery> {
      const [film] = publication.media
      const session = sessionIn(publication.handle)
      if (!film || session?.last == null) return { outcome: 'unsent', detail: 'the film is not prepared' }
      const tail = tails.get(session.query) ?? (await sessions.lastPart(film, session.last).catch(() => null))
      if (!tail) return { outcome: 'unsent', detail: 'the film cannot be read at this moment' }
      try {
        const answer = await sessions.put(publication, session, session.last, tail, film.mimeType, publishTimeoutMs)
        if (answer.status === 200 || answer.status === 201) {
          tails.delete(session.query)
          return published(answer)
        }
        // Parts are missing or the upload expired, so there is no film.
        if (answer.status === 308) return { outcome: 'unsent', detail: 'YouTube does not have all parts of the film' }
        const no = noOf(answer)
        return no.outcome === 'refused' && (answer.status === 404 || answer.status === 410) ? { outcome: 'unsent', detail: no.detail } : no
      } catch (error) {
        return unanswered(error)
      }
    },

    /**
     * Asks the upload session for its outcome. @throws when the session has expired, so that the outcome stays unknown
     */
    async find(publication: Publication): Promise<Lookup> {
      const session = sessionIn(publication.handle)
      if (!session) throw new Error('YouTube is asked by an upload, and there is none')
      const answer = await sessions.progress(publication, session)
      if (answer.status === 308) return { found: false, isAnothers: false }
      if (answer.status === 200 || answer.status === 201) {
        const told = published(answer)
        if (told.outcome === 'delivered') return { found: true, platformPostId: told.platformPostId, permalink: told.permalink }
        if (told.outcome === 'refused') return { found: false, isAnothers: false }
      }
      const no = noOf(answer)
      if (no.outcome === 'refused' && no.code === 'ACCESS_EXPIRED') throw new AccessExpired('YouTube')
      throw new Error(`YouTube does not say what became of a film: ${no.detail}`)
    },
  }
}
