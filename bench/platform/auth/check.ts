/**
 * Program that measures authentication. Arguments: `key` for an API key that is looked up each time, with a router's
 * other work, `key alone` without that; `token` for new access tokens, `token again` for a cached one; `jose` for
 * verifying such tokens by jose alone, with keys in memory.
 */
import { createLocalJWKSet, jwtVerify } from 'jose'
import { createAuthenticate, isCaller } from '../../../router/access/authenticate.ts'
import { createHosts } from '../../../router/hosts.ts'
import { memoryAuthority } from '../../../test/door/authority.ts'
import { supergraph } from '../../../test/kit/supergraph.ts'
import { takeTurns } from '../../turns.mjs'

const [what] = process.argv.slice(2)
const origin = 'http://localhost:4000'
const hosts = createHosts(origin, [])
const log = { error() {} }
let elapsed = 0
const known = 'known'

async function keyCheck(how: string): Promise<() => Promise<string>> {
  const graph = await supergraph()
  const email = 'bench@bench.test'
  const { keys } = await graph.platform.identity.provision({
    password: 'a long enough password',
    people: [{ email, name: 'Bench' }],
    organizations: [{ slug: 'bench', name: 'Bench', members: [{ email, roles: ['owner'] }] }],
    keys: [{ organization: 'bench', name: 'bench', scopes: ['publishing:posts.read'], createdBy: email }],
  })
  const { authority } = graph.platform.identity
  if (how === 'key alone') return async () => ((await authority.keys([authority.hashKey(keys.bench!.secret!)])).size === 1 ? known : 'nobody')
  const authenticate = createAuthenticate(authority, hosts, graph.clock, log, () => elapsed)
  const headers = new Headers({ 'x-api-key': keys.bench!.secret! })
  return async () => {
    // No answer of before counts any more.
    elapsed += 2000
    if (!isCaller(await authenticate(headers, { safe: true }))) throw new Error('the key is refused')
    return known
  }
}

/** Returns the check of more tokens than caches hold, one after the other, or of one repeatedly. */
async function tokenCheck(how: string): Promise<() => Promise<string>> {
  const { authority, clock, addSigningKey, signIn, token } = await memoryAuthority(origin)
  await addSigningKey('bench')
  const count = how === 'token again' ? 1 : 5000
  const tokens: string[] = []
  for (let at = 0; at < count; at += 1) {
    signIn(`session ${at}`)
    tokens.push(await token(`session ${at}`))
  }
  let at = 0
  const next = () => tokens[at++ % count]!
  if (how === 'jose') {
    const keys = createLocalJWKSet(await authority.jwks())
    const expected = { issuer: origin, audience: authority.audience, currentDate: clock.now() }
    return async () => ((await jwtVerify(next(), keys, expected)).payload.sub ? known : 'nobody')
  }
  const authenticate = createAuthenticate(authority, hosts, clock, log, () => elapsed)
  return async () => {
    if (!isCaller(await authenticate(new Headers({ authorization: `Bearer ${next()}` }), { safe: true }))) throw new Error('the token is refused')
    return known
  }
}

await takeTurns(await (what!.startsWith('key') ? keyCheck(what!) : tokenCheck(what!)))
