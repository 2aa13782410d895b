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

/** Each of several is refused by itself, in the report. */
const eachByItself = 'refused yes refused refused yes yes yes'

/** Of a brand that approves. */
const approvedPost: Fresh = async ({ graph, owner, ids }) => {
  await graph.rows(`update publishing.brands set approval_mode = 'OPTIONAL' where id = $1`, [ids.brand])
  return (await seedPost(graph, { brandId: ids.brand!, owner })).id
}

const freshPost: Fresh = async ({ graph, owner, ids }) => (await seedPost(graph, { brandId: ids.brand!, owner })).id

export const access: AccessRows = {
  async made({ graph, owner, outsider, ids }) {
    const write = async (seed?: PostSeed) => (await seedPost(graph, { brandId: ids.brand!, owner }, seed)).id
    const scheduledAt = graph.clock.in(86_400_000)
    const post = await write({ scheduledAt })
    const waiting = await write({ scheduledAt, threadId: post })
    const failed = await write({ row: { status: 'FAILED', ...failure('NO_CONNECTION', 'X', '', graph.clock.now()) } })
    const targeted = await write({ platform: 'FACEBOOK', target: { kind: 'PAGE', externalId: '1', name: null } })
    const decided = await write()
    await graph
      .execute('mutation($id: ID!) { decidePost(input: { id: $id, decision: HOLD }) { id } }', { id: decided }, { as: owner })
      .then(held => held.data())
    // The outsider's own organization has one, too: what is answered elsewhere is not ours.
    const { id: brandId } = await seedBrand(graph, { organizationId: outsider.organizationId! })
    await seedPost(graph, { brandId, owner: outsider })
    return { post, waiting, failed, targeted, decided }
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
    row(
      'Mutation.submitPost',
      writePosts,
      readPosts,
      writers,
      change('submitPost', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'submitPost',
      approvedPost,
    ),
    // A key holds the scope, and is no person who decides; nor does a member.
    row(
      'Mutation.decidePost',
      writePosts,
      readPosts,
      'refused denied refused refused denied yes hidden',
      change('decidePost', ({ fresh }) => `id: "${fresh}", decision: HOLD`, 'id'),
      'decidePost',
      freshPost,
    ),
    row(
      'Mutation.restorePostVersion',
      writePosts,
      readPosts,
      writers,
      change('restorePostVersion', ({ fresh }) => `id: "${fresh}", version: 1`, 'id'),
      'restorePostVersion',
      freshPost,
    ),
    row(
      'Mutation.composePosts',
      writePosts,
      readPosts,
      writers,
      change('composePosts', ({ brand: id }) => `brandId: "${id}", platforms: [X], copy: "x"`, 'groupId'),
      'composePosts',
    ),
    row(
      'Mutation.createPostThread',
      writePosts,
      readPosts,
      writers,
      change('createPostThread', ({ brand: id }) => `brandId: "${id}", platform: X, posts: [{ copy: "x" }]`, 'id'),
      'createPostThread',
    ),
    row(
      'Mutation.reorderPostThread',
      writePosts,
      readPosts,
      writers,
      change('reorderPostThread', ({ fresh }) => `id: "${fresh}", postIds: ["${fresh}"]`, 'id'),
      'reorderPostThread',
      freshPost,
    ),
    row(
      'Mutation.reschedulePosts',
      writePosts,
      readPosts,
      eachByItself,
      change('reschedulePosts', ({ fresh }) => `items: [{ id: "${fresh}", scheduledAt: "2099-01-01T00:00:00Z" }]`, 'succeeded'),
      'reschedulePosts',
      freshPost,
    ),
    row(
      'Mutation.deletePosts',
      writePosts,
      readPosts,
      eachByItself,
      change('deletePosts', ({ fresh }) => `items: [{ id: "${fresh}" }]`, 'succeeded'),
      'deletePosts',
      freshPost,
    ),
    row(
      'Mutation.importPosts',
      writePosts,
      readPosts,
      writers,
      change('importPosts', ({ brand: id }) => `brandId: "${id}", csv: "platform,copy\\nx,y"`, 'created'),
      'importPosts',
    ),
    row(
      'Query.postChecks',
      readPosts,
      accounts,
      byScope,
      ({ brand: id }) => `{ postChecks(input: { brandId: "${id}", platforms: [X], copy: "x" }) { length } }`,
      'postChecks',
    ),
    row('Query.postThread', readPosts, accounts, byScope, ({ post: id }) => `{ postThread(id: "${id}") { id } }`, 'postThread'),
    row('Query.postThreads', readPosts, accounts, byScope, ({ brand: id }) => `{ postThreads(brandId: "${id}") { nodes { id } } }`, 'postThreads'),
    row('Post.thread', readPosts, accounts, byScope, post('thread { id }'), 'post.thread'),
    row('Post.versions', readPosts, accounts, byScope, post('versions { version }'), 'post.versions'),
    row('Post.approvalEvents', readPosts, accounts, byScope, ({ decided: id }) => `{ post(id: "${id}") { approvalEvents { action } } }`, 'post.approvalEvents'),
    row('Post.problems', readPosts, accounts, byScope, ({ targeted: id }) => `{ post(id: "${id}") { problems { code } } }`, 'post.problems'),
    row(
      'ApprovalEvent.user',
      readPosts,
      accounts,
      byScope,
      ({ decided: id }) => `{ post(id: "${id}") { approvalEvents { user { id } } } }`,
      'post.approvalEvents.user',
    ),
    row('PostVersion.author', readPosts, accounts, byScope, post('versions { author { id } }'), 'post.versions.author'),
    row(
      'PostVersion.target',
      readPosts,
      accounts,
      byScope,
      ({ targeted: id }) => `{ post(id: "${id}") { versions { target { kind } } } }`,
      'post.versions.target',
    ),
    row(
      'PostCheck.problems',
      readPosts,
      accounts,
      byScope,
      ({ brand: id }) => `{ postChecks(input: { brandId: "${id}", platforms: [INSTAGRAM], copy: "x" }) { problems { code } } }`,
      'postChecks.problems',
    ),
    row(
      'PostComposition.posts',
      writePosts,
      readPosts,
      writers,
      change('composePosts', ({ brand: id }) => `brandId: "${id}", platforms: [X], copy: "x"`, 'posts { id }'),
      'composePosts.posts',
    ),
    row(
      'PostsReport.results',
      writePosts,
      readPosts,
      eachByItself,
      change('deletePosts', ({ fresh }) => `items: [{ id: "${fresh}" }]`, 'results { id }'),
      'deletePosts.results',
      freshPost,
    ),
    row(
      'PostResult.post',
      writePosts,
      readPosts,
      'refused yes refused refused yes yes nothing',
      change('reschedulePosts', ({ fresh }) => `items: [{ id: "${fresh}", scheduledAt: "2099-01-01T00:00:00Z" }]`, 'results { post { id } }'),
      'reschedulePosts.results.post',
      freshPost,
    ),
    row(
      'PostResult.error',
      writePosts,
      readPosts,
      eachByItself,
      change('deletePosts', ({ fresh }) => `items: [{ id: "${fresh}", expectedVersion: 999 }]`, 'results { error { code } }'),
      'deletePosts.results.error',
      freshPost,
    ),
    row(
      'PostImport.rows',
      writePosts,
      readPosts,
      writers,
      change('importPosts', ({ brand: id }) => `brandId: "${id}", csv: "platform,copy\\nx,y", dryRun: true`, 'rows { row }'),
      'importPosts.rows',
    ),
    row(
      'PostImportRow.problems',
      writePosts,
      readPosts,
      writers,
      change('importPosts', ({ brand: id }) => `brandId: "${id}", csv: "platform,copy\\nnowhere,y", dryRun: true`, 'rows { problems { code } }'),
      'importPosts.rows.problems',
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
    ...(
      [
        ['POST', 'reschedule', () => ({ scheduledAt: '2099-01-01T00:00:00Z' }), writers, freshPost],
        ['POST', 'submit', undefined, writers, approvedPost],
        ['POST', 'decide', () => ({ decision: 'hold' }), 'refused refused refused refused refused yes hidden', freshPost],
        ['POST', 'versions/:version/restore', undefined, writers, freshPost],
      ] as const
    ).map(([method, step, body, cells, fresh]) => ({
      at: `${method} /publishing/api/posts/:id/${step}`,
      scopes: writePosts,
      less: readPosts,
      cells,
      path: (ids: Ids) => `/publishing/api/posts/${ids.fresh}/${step.replace(':version', '1')}`,
      ...(body && { body }),
      fresh,
    })),
    {
      at: 'GET /publishing/api/posts/:id/versions',
      scopes: readPosts,
      less: accounts,
      cells: byScope,
      path: ids => `/publishing/api/posts/${ids.post}/versions`,
    },
    {
      at: 'POST /publishing/api/posts/compose',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: () => '/publishing/api/posts/compose',
      body: ids => ({ brandId: ids.brand, platforms: ['x'], copy: 'x' }),
    },
    {
      at: 'POST /publishing/api/posts/check',
      scopes: readPosts,
      less: accounts,
      cells: byScope,
      path: () => '/publishing/api/posts/check',
      body: ids => ({ brandId: ids.brand, platforms: ['x'], copy: 'x' }),
    },
    {
      at: 'POST /publishing/api/posts/bulk/reschedule',
      scopes: writePosts,
      less: readPosts,
      cells: eachByItself,
      path: () => '/publishing/api/posts/bulk/reschedule',
      body: ids => ({ items: [{ id: ids.fresh, scheduledAt: '2099-01-01T00:00:00Z' }] }),
      fresh: freshPost,
    },
    {
      at: 'POST /publishing/api/posts/bulk/delete',
      scopes: writePosts,
      less: readPosts,
      cells: eachByItself,
      path: () => '/publishing/api/posts/bulk/delete',
      body: ids => ({ items: [{ id: ids.fresh }] }),
      fresh: freshPost,
    },
    {
      at: 'POST /publishing/api/posts/import',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/posts/import?brandId=${ids.brand}`,
      headers: { 'content-type': 'text/csv' },
      body: () => Buffer.from('platform,copy\nx,y\n'),
    },
    {
      at: 'GET /publishing/api/threads',
      scopes: readPosts,
      less: accounts,
      cells: byScope,
      path: ids => `/publishing/api/threads?brandId=${ids.brand}`,
    },
    {
      at: 'POST /publishing/api/threads',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: () => '/publishing/api/threads',
      body: ids => ({ brandId: ids.brand, platform: 'x', posts: [{ copy: 'x' }] }),
    },
    { at: 'GET /publishing/api/threads/:id', scopes: readPosts, less: accounts, cells: byScope, path: ids => `/publishing/api/threads/${ids.post}` },
    {
      at: 'PUT /publishing/api/threads/:id/order',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/threads/${ids.fresh}/order`,
      body: ids => ({ postIds: [ids.fresh] }),
      fresh: freshPost,
    },
  ],
}
