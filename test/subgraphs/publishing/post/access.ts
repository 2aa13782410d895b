import { failure } from '../../../../subgraphs/publishing/delivery/failure.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accounts,
  byScope,
  byScopeEachTheirOwn,
  byScopeNoneElsewhere,
  change,
  constant,
  type Fresh,
  type Ids,
  readPosts,
  row,
  writePosts,
  writers,
} from '../../../access/row.ts'
import { seedBrand } from '../brand/seed.ts'
import { type PostSeed, seedPost } from './seed.ts'

const postsAndAccounts: readonly Scope[] = ['publishing:accounts.read', 'publishing:posts.read']

const post = (field: string) => (ids: Ids) => `{ post(id: "${ids.post}") { ${field} } }`
const posts = (field: string) => (ids: Ids) => `{ posts(brandId: "${ids.brand}") { ${field} } }`

const freshPost: Fresh = async ({ graph, owner, ids }) => (await seedPost(graph, { brandId: ids.brand!, owner })).id

export const access: AccessRows = {
  async made({ graph, owner, outsider, ids }) {
    const write = async (seed?: PostSeed) => (await seedPost(graph, { brandId: ids.brand!, owner }, seed)).id
    const scheduledAt = graph.clock.in(86_400_000)
    const post = await write({ scheduledAt })
    const waiting = await write({ scheduledAt, threadId: post })
    const failed = await write({ row: { status: 'FAILED', ...failure('NO_CONNECTION', 'X', '', graph.clock.now()) } })
    const targeted = await write({ platform: 'FACEBOOK', target: { kind: 'PAGE', externalId: '1', name: null } })
    // The outsider's own organization has one, too: what is answered elsewhere is not ours.
    const { id: brandId } = await seedBrand(graph, { organizationId: outsider.organizationId! })
    await seedPost(graph, { brandId, owner: outsider })
    return { post, waiting, failed, targeted }
  },
  fields: [
    row('Query.post', readPosts, accounts, byScope, post('id'), 'post'),
    row('Query.posts', readPosts, accounts, byScopeEachTheirOwn, constant('{ posts { nodes { id } } }'), 'posts'),
    row(
      'Mutation.createPost',
      writePosts,
      readPosts,
      writers,
      change('createPost', ({ brand: id }) => `brandId: "${id}", platform: X, copy: "x"`, 'id'),
      'createPost',
    ),
    row(
      'Mutation.updatePost',
      writePosts,
      readPosts,
      writers,
      change('updatePost', ({ fresh }) => `id: "${fresh}", copy: "x"`, 'id'),
      'updatePost',
      freshPost,
    ),
    row(
      'Mutation.reschedulePost',
      writePosts,
      readPosts,
      writers,
      change('reschedulePost', ({ fresh }) => `id: "${fresh}", scheduledAt: "2099-01-01T00:00:00Z"`, 'id'),
      'reschedulePost',
      freshPost,
    ),
    row(
      'Mutation.deletePost',
      writePosts,
      readPosts,
      writers,
      change('deletePost', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'deletePost',
      freshPost,
    ),
    row(
      'Subscription.postStatusChanged',
      readPosts,
      accounts,
      byScope,
      ({ brand: id }) => `subscription { postStatusChanged(brandId: "${id}") { id } }`,
      'postStatusChanged',
    ),
    row('PostConnection.nodes', readPosts, accounts, byScopeNoneElsewhere, posts('nodes { id }'), 'posts.nodes'),
    row('Post.brand', postsAndAccounts, readPosts, byScope, post('brand { id }'), 'post.brand'),
    row('Post.connection', postsAndAccounts, readPosts, byScope, post('connection { id }'), 'post.connection'),
    row('Post.waitsFor', readPosts, accounts, byScope, ({ waiting }) => `{ post(id: "${waiting}") { waitsFor { id } } }`, 'post.waitsFor'),
    row('Post.failure', readPosts, accounts, byScope, ({ failed }) => `{ post(id: "${failed}") { failure { code } } }`, 'post.failure'),
    row('Post.target', readPosts, accounts, byScope, ({ targeted }) => `{ post(id: "${targeted}") { target { kind } } }`, 'post.target'),
  ],
  routes: [
    { at: 'GET /publishing/api/posts', scopes: readPosts, less: accounts, cells: byScopeEachTheirOwn, path: () => '/publishing/api/posts' },
    {
      at: 'POST /publishing/api/posts',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: () => '/publishing/api/posts',
      body: ids => ({ brandId: ids.brand, platform: 'x', copy: 'x' }),
    },
    { at: 'GET /publishing/api/posts/:id', scopes: readPosts, less: accounts, cells: byScope, path: ids => `/publishing/api/posts/${ids.post}` },
    {
      at: 'PUT /publishing/api/posts/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/posts/${ids.fresh}`,
      body: () => ({ copy: 'y' }),
      fresh: freshPost,
    },
    {
      at: 'DELETE /publishing/api/posts/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/posts/${ids.fresh}`,
      fresh: freshPost,
    },
  ],
}
