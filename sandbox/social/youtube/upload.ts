import { randomBytes } from 'node:crypto'
import type { Call, Reply } from '../../network.ts'
import { json } from '../../network.ts'
import { spoiltMedia } from '../../oauth/media.ts'
import type { Account } from '../../oauth/world.ts'
import { createDigest } from '../films/read.ts'
import { filmFault, filmRules } from '../films/rules.ts'
import { invalid, notFound, problemOfStatus, refusal } from './problems.ts'
import { type Films, type Session, type Video, videoResource } from './videos.ts'

/** What YouTube calls metadata that it does not take: https://developers.google.com/youtube/v3/docs/videos/insert#errors */
type Wrong = 'invalidVideoMetadata' | 'invalidTitle' | 'invalidDescription' | 'invalidTags'

/** What a film is called, its keywords, and who may see it, of a body in JSON. @returns why YouTube does not take it otherwise */
export function factsIn(text: string): Pick<Video, 'title' | 'description' | 'privacyStatus' | 'tags'> | Wrong {
  try {
    const { snippet, status } = (text.trim() === '' ? {} : JSON.parse(text)) as {
      readonly snippet?: { readonly title?: unknown; readonly description?: unknown; readonly tags?: unknown }
      readonly status?: { readonly privacyStatus?: unknown }
    }
    const title = typeof snippet?.title === 'string' ? snippet.title : 'unknown'
    const privacyStatus = typeof status?.privacyStatus === 'string' ? status.privacyStatus : 'public'
    const description = typeof snippet?.description === 'string' ? snippet.description : ''
    const tags = snippet?.tags ?? []
    if (!['public', 'unlisted', 'private'].includes(privacyStatus)) return 'invalidVideoMetadata'
    if (title.length > 100 || /[<>]/.test(title)) return 'invalidTitle'
    if (Buffer.byteLength(description) > 5000 || /[<>]/.test(description)) return 'invalidDescription'
    return areTags(tags) ? { title, description, privacyStatus, tags } : 'invalidTags'
  } catch {
    return 'invalidVideoMetadata'
  }
}

/** Keywords: 500 characters with the commas between them, and with the quotes of those that hold a blank. */
function areTags(tags: unknown): tags is readonly string[] {
  if (!Array.isArray(tags) || !tags.every(tag => typeof tag === 'string' && !/[<>]/.test(tag))) return false
  return tags.map(tag => (tag.includes(' ') ? `"${tag}"` : tag)).join(',').length <= 500
}

/** Parts but the last are multiples of this many bytes. */
const unit = 256 * 1024

/** The parts of a resource that a call is about: with commas between, or one at a time as the official client sends them. */
export const partsOf = ({ query }: Call): readonly string[] => query.getAll('part').flatMap(each => each.split(',').flatMap(part => part.trim() || []))
const published = (films: Films, video: Video, call: Call): Reply => json(200, videoResource(films, video, [...partsOf(call), 'snippet', 'status']), 'accepted')
const refuseMedia = (status: number) => refusal(problemOfStatus(status))

/** Keeps a film, worked up at once or as a fault wants it. */
function keep(films: Films, account: Account, facts: Omit<Video, 'id' | 'publishedAt'>): Video {
  const fault = films.faults.take(films.name, ['processing', 'processing-error'], account.username)
  const readyAt = films.clock.now().getTime() + (fault?.fault === 'processing' ? (fault.delayMs ?? 0) : 0)
  return films.publish({ ...facts, accountId: account.id, readyAt, isBroken: fault?.fault === 'processing-error' })
}
export const badMetadata = (reason: Wrong): Reply =>
  refusal({ ...invalid('The request metadata specifies an invalid title, description, keyword or privacy status.'), reason })

/** Begins an upload in parts: its address is told in `Location`. */
export function beginSession(films: Films, call: Call, account: Account): Reply {
  const spoilt = spoiltMedia(films, account, refuseMedia)
  if (spoilt) return spoilt
  const facts = factsIn(call.body.toString('utf8'))
  if (typeof facts === 'string') return badMetadata(facts)
  const told = call.headers['x-upload-content-length']
  const total = typeof told === 'string' && /^\d+$/.test(told) ? Number(told) : null
  const type = call.headers['x-upload-content-type']
  const mimeType = typeof type === 'string' ? type : 'application/octet-stream'
  const session: Session = { ...facts, id: randomBytes(24).toString('base64url'), total, got: 0, accountId: account.id, mimeType, videoId: null }
  films.digests.set(session.id, createDigest())
  films.sessions.set(session.id, session)
  const query = new URLSearchParams(call.query)
  query.set('upload_id', session.id)
  return {
    status: 200,
    headers: { location: `${films.origin()}/youtube${call.path}?${query}`, 'x-guploader-uploadid': session.id, 'content-length': '0' },
    body: '',
    outcome: 'granted',
  }
}

/** Takes a part of an upload, or says how far it is. */
export function continueSession(films: Films, call: Call, account: Account): Reply {
  const session = films.sessions.get(call.query.get('upload_id') ?? '')
  if (!session || (session.accountId ?? account.id) !== account.id) return refusal(notFound('upload session'))
  const known = session.videoId === null ? undefined : films.videos.get(session.videoId)
  if (known) return published(films, known, call)
  const range = call.headers['content-range']
  if (range === undefined) return take(films, session, call, account, { from: 0, size: call.size, total: call.size })
  const [, whole, first, last, all] = /^bytes (?:(\*)|(\d+)-(\d+))\/(\d+|\*)$/.exec(range) ?? []
  if (whole) return unfinished(session)
  if (first === undefined) return refusal(invalid('Failed to parse Content-Range header.'))
  const [from, to, total] = [Number(first), Number(last), all === '*' ? null : Number(all)]
  const size = to - from + 1
  const isLast = total !== null && to + 1 === total
  if (size !== call.size || (total !== null && (to >= total || (session.total ?? total) !== total))) return refusal(invalid('Invalid Content-Range header.'))
  if (!isLast && size % unit !== 0) return refusal(invalid(`Chunks but the last must be multiples of ${unit} bytes.`))
  const spoilt = isLast ? undefined : spoiltMedia(films, account, refuseMedia)
  return spoilt ?? take(films, session, call, account, { from, size, total })
}

interface Part {
  readonly from: number
  readonly size: number
  readonly total: number | null
}

function take(films: Films, session: Session, call: Call, account: Account, { from, size, total }: Part): Reply {
  // Bytes before or beyond the expected position are dropped: the answer says where to continue.
  if (from !== session.got) return unfinished(session)
  const got = from + size
  // The digest is unknown for a part larger than the buffer.
  if (call.body.length === size) films.digests.get(session.id)?.update(call.body)
  else films.digests.delete(session.id)
  if (total === null || got < total) {
    const next = { ...session, got, total: total ?? session.total }
    films.sessions.set(session.id, next)
    return { ...unfinished(next), outcome: 'granted' }
  }
  const { title, description, privacyStatus, tags, mimeType } = session
  const digest = films.digests.get(session.id)
  const refused = filmFault(filmRules.youtube, digest?.film() ?? null)
  const sha256 = digest?.digest()
  films.digests.delete(session.id)
  const file = { bytes: got, ...(mimeType && { mimeType }), ...(sha256 && { sha256 }), ...(refused && { filmFault: refused }) }
  const video = keep(films, account, { title, description, privacyStatus, ...(tags && { tags }), ...file })
  films.sessions.set(session.id, { ...session, got, videoId: video.id })
  return published(films, video, call)
}

const unfinished = ({ got }: Session): Reply => ({
  status: 308,
  headers: { 'content-length': '0', ...(got > 0 && { range: `bytes=0-${got - 1}` }) },
  body: '',
  outcome: 'read',
})

/** Takes a film in one call: facts and file beside each other (RFC 2387), or the file alone. */
export function insert(films: Films, call: Call, account: Account): Reply {
  const spoilt = spoiltMedia(films, account, refuseMedia)
  if (spoilt) return spoilt
  const type = call.headers['content-type'] ?? ''
  const [, quoted, plain] = /^multipart\/related;.*?boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined)
    return published(films, keep(films, account, { title: 'unknown', description: '', privacyStatus: 'public', bytes: call.size, mimeType: type }), call)
  const text = call.body.toString('latin1')
  const delimiter = `--${boundary}`
  const [head = -1, body = -1, second = -1] = [text.indexOf('\r\n\r\n'), text.indexOf(`\r\n${delimiter}`), text.indexOf(delimiter, delimiter.length)]
  const media = text.indexOf('\r\n\r\n', second)
  if (!text.startsWith(delimiter) || head < 0 || body < head || second < 0 || media < 0) return refusal(invalid('Malformed multipart body.'))
  const facts = factsIn(Buffer.from(text.slice(head + 4, body), 'latin1').toString('utf8'))
  if (typeof facts === 'string') return badMetadata(facts)
  // After the file come the last delimiter and perhaps a line end.
  const bytes = call.size - (media + 4) - `\r\n${delimiter}--`.length
  return published(films, keep(films, account, { ...facts, bytes: Math.max(0, bytes) }), call)
}
