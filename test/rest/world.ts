import { type Door, openDoor, type Reply } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { person } from '../kit/viewers.ts'
import { seedBrand } from '../subgraphs/publishing/brand/seed.ts'

const password = 'correct horse battery'
const roles = { owner: 'owner', viewer: 'viewer', outsider: 'owner' } as const
export type Who = keyof typeof roles | 'nobody' | 'reader' | 'stranger'

export interface RestWorld extends AsyncDisposable {
  readonly graph: Supergraph
  /** A brand of the organization `acme`, which everybody but the outsider works in, and a draft of it. */
  readonly brandId: string
  readonly postId: string
  /** Asks a route by its path after `/publishing/api`, or by a whole path with a service's prefix. */
  ask(who: Who, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Sends the owner's bytes as JSON. */
  raw(method: string, path: string, body: Buffer): Promise<Reply>
  /** Writes a draft and answers it as the route does. */
  write(input?: object): Promise<{ readonly id: string; readonly version: number }>
}

/**
 * Every route over a real platform, with callers of several kinds before it: `reader` is a key with `posts.read` alone, `stranger` one with
 * nothing of publishing.
 */
export async function restWorld(): Promise<RestWorld> {
  const graph = await supergraph({ sandbox: true, now: new Date().toISOString() })
  const door: Door = await openDoor(graph)
  const provisioned = await graph.platform.identity.provision({
    password,
    people: Object.keys(roles).map(name => ({ email: `${name}@test.test`, name })),
    organizations: [
      { slug: 'acme', name: 'Acme', members: (['owner', 'viewer'] as const).map(name => ({ email: `${name}@test.test`, roles: [roles[name]] })) },
      { slug: 'other', name: 'Other', members: [{ email: 'outsider@test.test', roles: ['owner'] }] },
    ],
    keys: [
      { organization: 'acme', name: 'reader', scopes: ['publishing:posts.read'], createdBy: 'owner@test.test' },
      { organization: 'acme', name: 'stranger', scopes: ['payments:reports.read'], createdBy: 'owner@test.test' },
    ],
  })
  const credentials: Record<Who, Record<string, string>> = {
    nobody: {},
    reader: { 'x-api-key': provisioned.keys.reader!.secret! },
    stranger: { 'x-api-key': provisioned.keys.stranger!.secret! },
    owner: await door.signIn('owner@test.test', password),
    viewer: await door.signIn('viewer@test.test', password),
    outsider: await door.signIn('outsider@test.test', password),
  }
  const organizationId = provisioned.organizations.acme!
  const owner = person(provisioned.users['owner@test.test']!, organizationId, ['owner'])
  const { id: brandId } = await seedBrand(graph, { organizationId })
  const write: RestWorld['write'] = async (input = {}) => {
    const document = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id version } }'
    return (await graph.execute(document, { input: { brandId, platform: 'X', copy: 'A post', ...input } }, { as: owner })).data().createPost
  }
  return {
    graph,
    brandId,
    postId: (await write()).id,
    write,
    ask: (who, method, path, body, headers = {}) =>
      door.ask(method, /^\/[a-z]+\/api\//.test(path) ? path : `/publishing/api${path}`, {
        headers: { ...credentials[who], ...headers },
        ...(body !== undefined && { body }),
      }),
    raw: (method, path, body) => door.ask(method, `/publishing/api${path}`, { headers: { ...credentials.owner, 'content-type': 'application/json' }, body }),
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]()
      await graph[Symbol.asyncDispose]()
    },
  }
}
