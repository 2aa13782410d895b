import { describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { anonymous, key, personally } from '../kit/viewers.ts'

const places = (errors: readonly { path?: readonly unknown[]; extensions: { code: string } }[]) =>
  errors.map(({ path, extensions }) => `${extensions.code} ${path?.join('.')}`).sort()

describe('S-07 a key that may read posts', () => {
  test('reads no brand, no connection and no person’s address through any field', async () => {
    await using graph = await supergraph()
    const { key: reader, brand, thread } = await graph.seed.owner().key('publishing:posts.read').brand('Secret brand').connection().thread(2)
    const { data, errors } = (
      await graph.execute(
        `query($brand: ID!, $post: ID!) {
          post(id: $post) { copy brandId brand { name } connection { accountName } author { name email } waitsFor { brand { name } } }
          posts { nodes { id brand { name } } edges { node { brand { name connections { accountName } } } } }
          brand(id: $brand) { name }
          viewer { organization { name brands { nodes { name } edges { node { name } } } memberships { nodes { id } } } }
          publishingWidget { statistics { key } }
          widgets { title }
        }`,
        { brand: brand.id, post: thread[1]!.id },
        { as: reader },
      )
    ).partial
    expect(JSON.stringify(data)).not.toContain('Secret brand')
    expect(JSON.stringify(data)).not.toContain('@')
    expect(data).toMatchObject({
      post: { copy: thread[1]!.copy, brandId: brand.id, brand: null, connection: null, author: { name: expect.any(String), email: null } },
      posts: { nodes: [{ brand: null }, { brand: null }], edges: [{ node: { brand: null } }, { node: { brand: null } }] },
      brand: null,
      viewer: { organization: { name: expect.any(String), brands: null, memberships: null } },
      publishingWidget: null,
      widgets: null,
    })
    expect(places(errors)).toEqual(
      [
        'brand',
        'post.author.email',
        'post.brand',
        'post.connection',
        'post.waitsFor.brand',
        'posts.edges.node.brand',
        'posts.nodes.brand',
        'publishingWidget',
        'viewer.organization.brands',
        'viewer.organization.memberships',
        'widgets',
      ].map(path => `UNAUTHORIZED_FIELD_OR_TYPE ${path}`),
    )
    expect(errors.find(({ path }) => path?.join('.') === 'post.brand')?.extensions.requiredScopes).toEqual([
      ['publishing:accounts.read'],
      ['publishing:accounts.write'],
    ])
  })

  test('nor under another name, by a fragment, or behind a condition', async () => {
    await using graph = await supergraph()
    const { key: reader, post } = await graph.seed.owner().key('publishing:posts.read').brand('Secret brand').post()
    const { data } = (
      await graph.execute(
        `query($id: ID!, $yes: Boolean!) { a: post(id: $id) { ...On b: brand @include(if: $yes) { c: name } } }
         fragment On on Post { copy: id d: brand { ... on Brand { name } } ... @skip(if: false) { e: brand { name } } }`,
        { id: post.id, yes: true },
        { as: reader },
      )
    ).partial
    expect(data).toEqual({ a: { copy: post.id, b: null, d: null, e: null } })
  })

  test('writes nothing: a mutation is rejected whole', async () => {
    await using graph = await supergraph()
    const { key: reader, brand } = await graph.seed.owner().key('publishing:posts.read').brand()
    const input = { brandId: brand.id, platform: 'X', copy: 'no' }
    ;(await graph.execute('mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', { input }, { as: reader })).refused(
      'UNAUTHORIZED_FIELD_OR_TYPE',
    )
    const writer = key(brand.organizationId, ['publishing:posts.write', 'publishing:posts.read'])
    const beyond = await graph.execute('mutation($input: CreatePostInput!) { createPost(input: $input) { id brand { name } } }', { input }, { as: writer })
    expect(beyond.refused('UNAUTHORIZED_FIELD_OR_TYPE').path).toEqual(['createPost', 'brand'])
    expect(await graph.rows('select 1 from publishing.posts')).toEqual([])
  })

  test('and one that may only write gets what it wrote, and reads nothing else', async () => {
    await using graph = await supergraph()
    const { brand, post } = await graph.seed.owner().brand().post()
    const writer = key(brand.organizationId, ['publishing:posts.write'])
    const input = { brandId: brand.id, platform: 'X', copy: 'Mine' }
    const document = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id copy } }'
    const { id, copy } = (await graph.execute(document, { input }, { as: writer })).data().createPost
    expect(copy).toBe('Mine')
    for (const asked of [id, post.id])
      (await graph.execute('query($id: ID!) { post(id: $id) { copy } posts { nodes { copy } } }', { id: asked }, { as: writer })).refused(
        'UNAUTHORIZED_FIELD_OR_TYPE',
      )
    ;(await graph.refusedSubscription('subscription($id: ID!) { postStatusChanged(brandId: $id) { copy } }', { id: brand.id }, { as: writer })).refused(
      'UNAUTHORIZED_FIELD_OR_TYPE',
    )
  })
})

describe('S-07 records are hidden from a viewer', () => {
  const document = `query($brand: ID!, $post: ID!, $thread: ID!) {
    brand(id: $brand) { name connections { accountName } }
    post(id: $post) { copy brand { name } }
    posts(brandId: $brand) { nodes { copy } totalCount }
    thread: posts(threadId: $thread) { nodes { copy } }
    all: posts { nodes { copy } }
  }`
  const variables = async (graph: Supergraph) => {
    const seeded = await graph.seed.owner().outsider().brand('Secret brand').connection().post({ copy: 'Secret copy' })
    return { ...seeded, asked: { brand: seeded.brand.id, post: seeded.post.id, thread: seeded.post.threadId } }
  }

  test('of another organization: NOT_FOUND by id, as for an unknown id, and empty lists', async () => {
    await using graph = await supergraph()
    const { outsider, asked } = await variables(graph)
    const [foreign, missing] = [
      (await graph.execute(document, asked, { as: outsider })).partial,
      (await graph.execute(document, { ...asked, brand: newId(), post: newId(), thread: newId() }, { as: outsider })).partial,
    ]
    expect(foreign.data).toEqual({ brand: null, post: null, posts: { nodes: [], totalCount: 0 }, thread: { nodes: [] }, all: { nodes: [] } })
    expect(places(foreign.errors)).toEqual(['NOT_FOUND brand', 'NOT_FOUND post'])
    const shape = ({ data, errors }: typeof foreign) =>
      [JSON.stringify(data), ...errors.map(error => JSON.stringify(error)).sort()].join('\n').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
    expect(shape(missing)).toBe(shape(foreign))
  })

  test('who is a member there too, but works in another organization at the moment', async () => {
    await using graph = await supergraph()
    const { owner, outsider, asked } = await variables(graph)
    const elsewhere = { ...owner, organizationId: outsider.organizationId }
    expect((await graph.execute(document, asked, { as: elsewhere })).partial.data).toMatchObject({ brand: null, post: null, all: { nodes: [] } })
  })

  test('who may switch to an organization: its name is visible through the membership, its brands are not', async () => {
    await using graph = await supergraph()
    const { owner, outsider, elsewhere } = await variables(graph)
    await graph.rows('update identity.memberships set user_id = $1 where user_id = $2', [owner.userId, outsider.userId])
    const document = '{ memberships { nodes { organization { id name brands { nodes { name } totalCount } } } } }'
    const nodes = (await graph.execute(document, {}, { as: owner })).data().memberships.nodes
    const brandsOf = (id: string | null) => nodes.find(({ organization }: { organization: { id: string } }) => organization.id === id).organization
    expect(brandsOf(elsewhere.id)).toMatchObject({ name: elsewhere.name, brands: { nodes: [], totalCount: 0 } })
    expect(brandsOf(owner.organizationId).brands.nodes).toEqual([{ name: 'Secret brand' }])
    const there = { ...owner, organizationId: elsewhere.id }
    expect(JSON.stringify((await graph.execute(document, {}, { as: there })).partial)).not.toContain('Secret brand')
  })

  test('in personal context, even with the scopes', async () => {
    await using graph = await supergraph()
    const { owner, asked } = await variables(graph)
    const alone = { ...personally(owner), scopes: owner.scopes }
    const { data, errors } = (
      await graph.execute(`${document.replace(/}\s*$/, '')} publishingWidget { items { title } } widgets { title } }`, asked, { as: alone })
    ).partial
    expect(data).toEqual({ brand: null, post: null, posts: null, thread: null, all: null, publishingWidget: null, widgets: [] })
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['NOT_FOUND', 'FORBIDDEN']))
  })

  test('without credentials: null everywhere, with the hint to sign in', async () => {
    await using graph = await supergraph()
    const { asked } = await variables(graph)
    const { data, errors } = (
      await graph.execute(`${document.replace(/}\s*$/, '')} viewer { kind user { name } organization { name } scopes } services { slug } }`, asked, {
        as: anonymous,
      })
    ).partial
    expect(data).toEqual({
      brand: null,
      post: null,
      posts: null,
      thread: null,
      all: null,
      services: null,
      viewer: { kind: 'ANONYMOUS', user: null, organization: null, scopes: [] },
    })
    for (const { extensions } of errors) expect(extensions).toMatchObject({ code: 'UNAUTHORIZED_FIELD_OR_TYPE', signIn: true })
  })

  test('names of colleagues who left are not shown on their posts', async () => {
    await using graph = await supergraph()
    const { owner, member, post } = await graph.seed.owner().member().brand().post()
    const theirs = (
      await graph.execute(
        'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }',
        { input: { brandId: post.brandId, platform: 'X', copy: 'x' } },
        { as: member },
      )
    ).data().createPost
    const read = async () =>
      (await graph.execute('query($id: ID!) { post(id: $id) { author { id name } } }', { id: theirs.id }, { as: owner })).partial.data?.post.author
    expect(await read()).toMatchObject({ id: member.userId })
    await graph.rows('delete from identity.memberships where user_id = $1', [member.userId])
    expect(await read()).toBe(null)
  })
})

test('a viewer by role reads everything and writes nothing', async () => {
  await using graph = await supergraph()
  const { viewer, brand, post } = await graph.seed.owner().viewer().brand().connection().post()
  const read = await graph.execute(
    'query($id: ID!) { post(id: $id) { copy brand { name connections { accountName } } } publishingWidget { statistics { key } } widgets { title } }',
    { id: post.id },
    { as: viewer },
  )
  expect(read.data().post).toMatchObject({ copy: post.copy, brand: { name: brand.name } })
  for (const [document, input] of [
    ['mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', { brandId: brand.id, platform: 'X', copy: 'x' }],
    ['mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }', { id: post.id, copy: 'x' }],
    ['mutation($input: DeletePostInput!) { deletePost(input: $input) { id } }', { id: post.id }],
  ] as const)
    (await graph.execute(document, { input }, { as: viewer })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
})

test('a post by a person who has left the organization is read without their name, and without an error', async () => {
  await using graph = await supergraph()
  const story = graph.seed.owner().member().brand()
  const { member } = await story
  const { owner, post } = await story.post({ by: member })
  await graph.rows('delete from identity.memberships where user_id = $1', [member.userId])
  const answer = await graph.execute('query($id: ID!) { post(id: $id) { copy author { name email } } }', { id: post.id }, { as: owner })
  expect(answer.data()).toEqual({ post: { copy: post.copy, author: null } })
})
