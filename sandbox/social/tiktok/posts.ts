import { randomBytes } from 'node:crypto'
import { spoilt } from '../../faults.ts'
import type { Call, Reply } from '../../network.ts'
import { spoiltMedia } from '../../oauth/media.ts'
import type { Account } from '../../oauth/world.ts'
import { createDigest } from '../films/read.ts'
import { type FilmFault, filmFault, filmRules } from '../films/rules.ts'
import { enveloped, problem, problemOfStatus, uploadProblem } from './problems.ts'
import { isPublic, type StoredPost, statusOf, type World } from './world.ts'

const [leastChunk, mostChunk, mostLast] = [5_000_000, 64 * 1024 * 1024, 128 * 1024 * 1024]
const levels = ['PUBLIC_TO_EVERYONE', 'MUTUAL_FOLLOW_FRIENDS', 'SELF_ONLY']
const mostCharacters = 2200
/** Posts that an account may begin in a minute. */
const mostInits = 6

/** `POST /v2/post/publish/creator_info/query/`: https://developers.tiktok.com/doc/content-posting-api-reference-query-creator-info */
export const creatorInfo = (_world: World, _call: Call, { username, name }: Account): Reply =>
  enveloped(
    {
      creator_avatar_url: 'https://p16-sign.tiktokcdn.com/avatar.jpeg',
      creator_username: username,
      creator_nickname: name,
      privacy_level_options: levels,
      comment_disabled: false,
      duet_disabled: false,
      stitch_disabled: true,
      max_video_post_duration_sec: 600,
    },
    'read',
  )

/**
 * `POST /v2/post/publish/video/init/`: begins a post whose film comes in chunks.
 * https://developers.tiktok.com/doc/content-posting-api-reference-direct-post
 *
 * Films that TikTok would fetch are not played and refused.
 */
export function begin(world: World, call: Call, account: Account): Reply {
  const refused = spoiltMedia(world, account, problemOfStatus)
  if (refused) return refused
  const draft = readDraft(call)
  if ('status' in draft) return draft
  // The demo application was never audited by TikTok.
  if (draft.level !== 'SELF_ONLY')
    return problem(
      403,
      'unaudited_client_can_only_post_to_private_accounts',
      'Please review our integration guidelines at https://developers.tiktok.com/doc/content-sharing-guidelines/',
    )
  const now = world.clock.now().getTime()
  const lately = (world.begun.get(account.id) ?? []).filter(at => at > now - 60_000)
  if (lately.length >= mostInits) return problemOfStatus(429)
  world.begun.set(account.id, [...lately, now])
  const publishId = `v_pub_file~v2-1.${world.newNumber()}`
  const uploadToken = randomBytes(18).toString('base64url')
  const postId = world.newNumber()
  const fresh = { got: 0, uploaded: 0, received: null, createdAt: now, readyAt: now, isBroken: false }
  world.posts.set(publishId, { ...draft, ...fresh, publishId, uploadToken, postId, accountId: account.id })
  const query = new URLSearchParams({ upload_id: publishId, upload_token: uploadToken })
  return enveloped({ publish_id: publishId, upload_url: `${world.origin()}/${world.name}/video/?${query}` }, 'granted')
}

type Draft = Pick<StoredPost, 'title' | 'level' | 'size' | 'chunkSize' | 'chunks'>

function readDraft(call: Call): Draft | Reply {
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) return problem(400, 'invalid_params', 'The request body is no JSON.')
  let body: { readonly post_info?: Record<string, unknown>; readonly source_info?: Record<string, unknown> }
  try {
    body = JSON.parse(call.body.toString('utf8'))
  } catch {
    return problem(400, 'invalid_params', 'The request body is no JSON.')
  }
  const { title = '', privacy_level: level } = body.post_info ?? {}
  const { source, video_size: size, chunk_size: chunkSize, total_chunk_count: chunks } = body.source_info ?? {}
  if (typeof level !== 'string' || !levels.includes(level)) return problem(403, 'privacy_level_option_mismatch', 'privacy_level is not one of the options.')
  if (typeof title !== 'string' || [...title].length > mostCharacters) return problem(400, 'invalid_params', 'The title is too long.')
  if (source !== 'FILE_UPLOAD') return problem(403, 'url_ownership_unverified', 'The sandbox plays FILE_UPLOAD alone.')
  if (![size, chunkSize, chunks].every(each => typeof each === 'number' && Number.isInteger(each) && each > 0))
    return problem(400, 'invalid_params', 'video_size, chunk_size and total_chunk_count have to be whole numbers.')
  const [whole, part, count] = [size, chunkSize, chunks] as [number, number, number]
  const isRight = count === Math.max(1, Math.floor(whole / part)) && count <= 1000 && part <= mostChunk && part <= whole
  if (!isRight || (count > 1 && part < leastChunk)) return problem(400, 'invalid_params', 'The total chunk count is invalid.')
  return { title, level, size: whole, chunkSize: part, chunks: count }
}

/**
 * `PUT` to an upload address, chunk after chunk: 206, and 201 for the last, by which TikTok publishes.
 * https://developers.tiktok.com/doc/content-posting-api-media-transfer-guide
 */
export function upload(world: World, call: Call): Reply | Promise<Reply> {
  const post = world.posts.get(call.query.get('upload_id') ?? '')
  if (!post || post.uploadToken !== call.query.get('upload_token')) return uploadProblem(404, 'The upload is not there.')
  const account = world.accounts.get(post.accountId)!
  if (post.received || world.clock.now().getTime() > post.createdAt + 3_600_000) return uploadProblem(403, 'The upload_url has expired.')
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(call.headers['content-range'] ?? '') ?? []
  const isLast = post.got === post.chunks - 1
  const length = isLast ? post.size - post.uploaded : post.chunkSize
  if (
    Number(total) !== post.size ||
    Number(first) !== post.uploaded ||
    Number(last) !== post.uploaded + length - 1 ||
    call.size !== length ||
    length > mostLast
  )
    return uploadProblem(416, 'The chunk is not the one that comes next.')
  const digest = post.got === 0 ? createDigest() : world.digests.get(post.publishId)
  if (!digest) return uploadProblem(404, 'The upload is not there.')
  const take = (): StoredPost => {
    digest.update(call.body)
    world.digests.set(post.publishId, digest)
    const taken = { ...post, got: post.got + 1, uploaded: post.uploaded + length }
    world.posts.set(post.publishId, taken)
    return taken
  }
  const range = `bytes 0-${Number(last)}/${post.size}`
  if (!isLast) {
    const refused = spoiltMedia(world, account, status => uploadProblem(status, 'The chunk was not taken.'))
    if (refused) return refused
    take()
    return { status: 206, headers: { 'content-range': range, 'content-length': '0' }, body: '', outcome: 'granted' }
  }
  return spoilt(world.faults, world.name, {
    account: account.username,
    refuse: ({ status }) => uploadProblem(status, 'The chunk was not taken.'),
    take() {
      const whole = take()
      world.digests.delete(post.publishId)
      const fault = world.faults.take(world.name, ['processing', 'processing-error'], account.username)
      const readyAt = world.clock.now().getTime() + (fault?.fault === 'processing' ? (fault.delayMs ?? 0) : 0)
      const received = { mimeType: call.headers['content-type'] ?? '', bytes: post.size, sha256: digest.digest() }
      const refused = filmFault(filmRules.tiktok, digest.film())
      world.posts.set(post.publishId, {
        ...whole,
        received,
        readyAt,
        isBroken: refused !== null || fault?.fault === 'processing-error',
        ...(refused && { filmFault: refused }),
      })
      return { status: 201, headers: { 'content-range': range, 'content-length': '0' }, body: '', outcome: 'accepted' }
    },
  })
}

/** https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status#fail_reasons */
const failures: Readonly<Record<FilmFault, string>> = {
  duration: 'duration_check_failed',
  format: 'file_format_check_failed',
  shape: 'picture_size_check_failed',
}

/** `POST /v2/post/publish/status/fetch/`: https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status */
export function fetchStatus(world: World, call: Call, account: Account): Reply {
  let id: unknown
  try {
    id = JSON.parse(call.body.toString('utf8')).publish_id
  } catch {
    return problemOfStatus(400)
  }
  const post = typeof id === 'string' ? world.posts.get(id) : undefined
  if (!post || post.accountId !== account.id) return problem(400, 'invalid_publish_id', 'The publish_id does not exist.')
  const fault = world.faults.take(world.name, ['listing-lag'], account.username)
  const status = fault ? 'PROCESSING_UPLOAD' : statusOf(world, post)
  const told = {
    status,
    ...(status === 'FAILED' && { fail_reason: failures[post.filmFault ?? 'format'] }),
    publicaly_available_post_id: [],
    uploaded_bytes: post.uploaded,
    downloaded_bytes: 0,
  }
  const reply = enveloped(told, 'read')
  // 64-bit numbers, as TikTok writes them.
  const body =
    status === 'PUBLISH_COMPLETE' && isPublic(post)
      ? String(reply.body).replace('"publicaly_available_post_id":[]', `"publicaly_available_post_id":[${post.postId}]`)
      : reply.body
  return { ...reply, body, ...(fault && { outcome: 'faulted', fault: 'listing-lag' }) }
}
