import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Call, Reply } from '../../network.ts'
import { hashOf } from '../../oauth/grants.ts'
import type { Behaviour, Client, OauthWorld, Wrong } from '../../oauth/world.ts'
import { oauthError } from './problems.ts'

/** What each scope lets an application do: https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code */
const scopes: Readonly<Record<string, string>> = {
  'tweet.read': 'See posts, also of protected accounts you can see',
  'tweet.write': 'Post and repost for you',
  'tweet.moderate.write': 'Hide and unhide replies to your posts',
  'users.read': 'See accounts you can see',
  'follows.read': 'See whom you follow and who follows you',
  'follows.write': 'Follow and unfollow for you',
  'offline.access': 'Keep access until you revoke it',
  'space.read': 'See Spaces you can see',
  'mute.read': 'See accounts you muted',
  'mute.write': 'Mute and unmute for you',
  'like.read': 'See likes you can see',
  'like.write': 'Like and unlike for you',
  'list.read': 'See your Lists',
  'list.write': 'Change your Lists',
  'block.read': 'See accounts you blocked',
  'block.write': 'Block and unblock for you',
  'bookmark.read': 'See your bookmarks',
  'bookmark.write': 'Change your bookmarks',
  'dm.read': 'Read your Direct Messages',
  'dm.write': 'Send Direct Messages for you',
  'media.write': 'Upload media for you',
}

/** What X answers to a wrong request for a token. */
function refuse(wrong: Wrong): Reply {
  if (typeof wrong === 'object') return oauthError(400, 'invalid_request', `Missing required parameter [${wrong.missing}].`)
  if (wrong === 'client') return oauthError(401, 'unauthorized_client', 'Missing valid authorization header')
  if (wrong === 'grant type') return oauthError(400, 'unsupported_grant_type', 'Value passed for the grant type was invalid.')
  return oauthError(400, 'invalid_request', invalid[wrong])
}

const invalid = {
  form: 'The body has to be application/x-www-form-urlencoded.',
  code: 'Value passed for the authorization code was invalid.',
  'redirect uri': 'Value passed for the redirect uri did not match the uri of the authorization code.',
  verifier: 'Value passed for the code verifier did not match the code challenge.',
  token: 'Value passed for the token was invalid.',
}

/** X takes id and secret as they are, without the form encoding that RFC 6749 §2.3.1 puts before Basic. */
function authenticate(world: OauthWorld, call: Call): Client | undefined {
  const credentials = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(call.headers.authorization ?? '')?.[1]
  if (credentials === undefined) return undefined
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const client = world.clients.get(text.slice(0, Math.max(colon, 0)))
  const shown = Buffer.from(hashOf(text.slice(colon + 1)))
  return client && timingSafeEqual(shown, Buffer.from(hashOf(client.secret))) ? client : undefined
}

/** OAuth 2.0 as X speaks it: https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code */
export const behaviour: Behaviour = {
  title: 'X',
  scopes,
  refreshScope: 'offline.access',
  codeLifetime: 30_000, // the page's glossary
  accessLifetime: 7200,
  refreshLifetime: 183 * 86_400_000, // about six months
  // An opaque token as X's look: base64 of letters, the moment, and a marker for its kind.
  newToken: (kind, now) => Buffer.from(`${randomBytes(32).toString('base64url')}:${now.getTime()}:1:1:${kind}:1`).toString('base64url'),
  authenticate,
  refuse,
}
