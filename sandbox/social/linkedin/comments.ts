import { spoilt } from '../../faults.ts'
import type { Call, Reply } from '../../network.ts'
import { json } from '../../network.ts'
import { objectIn, pageOf } from './parameters.ts'
import { type Caller, refusedByFault } from './posts.ts'
import { denied, invalid, problem } from './problems.ts'
import { mayActAs, type StoredPost, type World } from './world.ts'

const mostCharacters = 1250

/**
 * Answers `POST /rest/socialActions/:urn/comments` with 201 and the comment: plain text by an organization under a
 * post. https://learn.microsoft.com/linkedin/marketing/community-management/shares/comments-api
 */
export async function createComment(world: World, call: Call, { account, scopes }: Caller, under: string): Promise<Reply> {
  if (!scopes.includes('w_organization_social')) return denied('socialActions.comments.CREATE')
  const { actor, object, message } = (objectIn(call) ?? {}) as {
    readonly actor?: unknown
    readonly object?: unknown
    readonly message?: { readonly text?: unknown }
  }
  if (typeof actor !== 'string') return invalid('/actor', 'field is required but not found', 'MISSING_FIELD')
  const text = message?.text
  if (typeof text !== 'string' || text.trim() === '') return invalid('/message/text', 'field is required but not found', 'MISSING_FIELD')
  if ([...text].length > mostCharacters) return invalid('/message/text', `A comment has ${mostCharacters} characters at most`, 'FIELD_LENGTH_TOO_LONG')
  const post = world.posts.get(under)
  if (!post || post.deletedAt !== null || post.under !== null) return problem(404)
  if (object !== undefined && object !== under) return invalid('/object', 'The object is not the one of the path')
  if (!actor.startsWith('urn:li:organization:') || !mayActAs(world, account, actor))
    return problem(403, 'Field Value validation failed in REQUEST_BODY: Data Processing Exception while processing fields [/actor]')
  return spoilt(world.faults, world.name, {
    account: account.username,
    refuse: refusedByFault,
    take() {
      const number = world.newNumber()
      const urn = `urn:li:comment:(${under},${number})`
      const createdAt = world.clock.now().getTime()
      const comment: StoredPost = {
        urn,
        author: actor,
        accountId: account.id,
        commentary: text,
        text,
        content: null,
        media: [],
        under,
        createdAt,
        deletedAt: null,
      }
      world.posts.set(urn, comment)
      return json(201, shownComment(comment), 'accepted', { 'x-restli-id': number })
    },
  })
}

/** Answers `GET /rest/socialActions/:urn/comments` with the comments under a post, oldest first. */
export function listComments(world: World, call: Call, { account, scopes }: Caller, under: string): Reply {
  if (!scopes.includes('r_organization_social')) return denied('socialActions.comments.GET_ALL')
  if (!world.posts.get(under)) return problem(404)
  const fault = world.faults.take(world.name, ['listing-lag'], account.username)
  const youngest = fault ? world.clock.now().getTime() - (fault.delayMs ?? 0) : Number.POSITIVE_INFINITY
  const comments = [...world.posts.values()].filter(post => post.under === under && post.deletedAt === null && post.createdAt <= youngest)
  const reply = json(200, pageOf(call, comments.map(shownComment)), 'read')
  return fault ? { ...reply, outcome: 'faulted', fault: 'listing-lag' } : reply
}

const shownComment = ({ urn, author, text, under, createdAt }: StoredPost) => {
  const id = /,(\d+)\)$/.exec(urn)?.[1]
  const at = { actor: author, time: createdAt }
  return {
    id,
    $URN: urn,
    commentUrn: urn,
    actor: author,
    object: under,
    message: { attributes: [], text },
    created: at,
    lastModified: at,
    likesSummary: { totalLikes: 0 },
  }
}
