import { describe, expect, test } from 'vitest'
import { listedSlugs } from '../../router/start/registry.ts'
import { mode } from '../kit/assembled.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const everything = `query($first: Int) {
  viewer { kind user { email } organization { name brands { nodes { id name connections { platform } } } } }
  posts(first: $first) {
    nodes { id status copy author { name } brand { name organization { name } } connection { platform accountName } waitsFor { id } }
    pageInfo { hasNextPage }
  }
  widgets { app title payload { statistics { key value } items { title } } }
}`

test('S-03 one query crosses identity, publishing and launcher', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, organization, brand, thread } = await graph.seed
    .owner()
    .brand()
    .connection()
    .thread(2, { scheduledAt: graph.clock.in(3_600_000) })
  const { viewer, posts, widgets } = (await graph.execute(everything, {}, { as: owner })).data()
  expect(viewer).toMatchObject({
    kind: 'USER',
    user: { email: expect.stringContaining('@') },
    organization: { name: organization.name, brands: { nodes: [{ id: brand.id, name: brand.name, connections: [{ platform: 'X' }] }] } },
  })
  const shared = {
    status: 'SCHEDULED',
    author: { name: expect.any(String) },
    brand: { name: brand.name, organization: { name: organization.name } },
    connection: { platform: 'X' },
  }
  expect(posts).toMatchObject({
    nodes: [
      { id: thread[1]!.id, waitsFor: { id: thread[0]!.id }, ...shared },
      { id: thread[0]!.id, waitsFor: null, ...shared },
    ],
    pageInfo: { hasNextPage: false },
  })
  const widget = widgets.find(({ app }: { app: string }) => app === 'publishing')
  expect(widget).toMatchObject({ title: 'Publishing', payload: { items: [{ title: thread[0]!.copy }] } })
  expect(widget.payload.statistics).toContainEqual({ key: 'scheduledToday', value: 2 })
})

test('S-12 an operation answers the same however often it runs, interpreted or compiled', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner } = await graph.seed
    .owner()
    .brand()
    .connection()
    .thread(3, { scheduledAt: graph.clock.in(3_600_000) })
  const document = `query($first: Int, $status: PostStatus) {
    posts(first: $first, status: $status) { nodes { ...Whole } edges { cursor } pageInfo { hasNextPage endCursor } totalCount }
    viewer { organization { brands { nodes { id connections { accountName } } totalCount } memberships { nodes { user { name } } totalCount } } }
    publishingWidget { statistics { key value } items { title at url } nextAction { url } }
    services { slug scopes { name } addresses { url } }
  }
  fragment Whole on Post { id copy status createdAt scheduledAt permalink target { kind } failure { code } author { name email } brand { name } connection { connectedAt } waitsFor { id } }`
  const ask = async () => (await graph.execute(document, { first: 2, status: 'SCHEDULED' }, { as: owner })).data()
  const first = await ask()
  expect(first.posts.totalCount).toBe(3)
  for (let times = 2; times <= 10; times += 1) expect(await ask(), `the answer of time ${times}`).toEqual(first)
})

describe('S-12 the number of SQL statements does not grow with the list', () => {
  /** Statements of the second time, when every connection is warm and the operation planned. */
  const cost = async (graph: Supergraph, document: string, variables: Record<string, unknown>, as: Parameters<Supergraph['execute']>[2]) => {
    for (let warm = 0; warm < 2; warm += 1) (await graph.execute(document, variables, as)).data()
    return graph.statements(() => graph.execute(document, variables, as))
  }
  const list = (selection: string) => `query($first: Int) { posts(first: $first) { nodes { id copy ${selection} } } }`

  test.each([
    ['nothing more', '', 1],
    ['the author', 'author { name }', 2],
    ['the brand', 'brand { name }', 2],
    ['the brand and its organization', 'brand { name organization { name } }', 3],
    ['the connection', 'connection { platform }', 2],
    ['the post that it waits for', 'waitsFor { id status }', 2],
    ['the brand’s connections', 'brand { name connections { accountName author { name } } }', 4],
    ['author, brand, connection and waitsFor', 'author { name } brand { name } connection { platform } waitsFor { id }', 5],
    [
      'all that, of the waiting one too',
      'author { name } brand { name } connection { platform } waitsFor { id author { name } brand { name } connection { platform } }',
      5,
    ],
  ])('posts with %s', async (_what, selection, statements) => {
    await using graph = await supergraph({ sandbox: true })
    const story = graph.seed.owner().member().brand().connection()
    const { member, owner } = await story
    const scheduledAt = graph.clock.in(3_600_000)
    // Two brands, two authors, threads and single posts: nothing that one loader key would hide.
    await story.thread(20, { scheduledAt }).posts(15, { by: member, scheduledAt })
    await story.brand('Another').connection().thread(15, { by: member, scheduledAt })
    const few = await cost(graph, list(selection), { first: 5 }, { as: owner })
    const many = await cost(graph, list(selection), { first: 50 }, { as: owner })
    expect((await graph.execute(list(selection), { first: 50 }, { as: owner })).data().posts.nodes).toHaveLength(50)
    expect([few.length, many.length], many.join('\n')).toEqual([statements, statements])
  })

  test('the query across three subgraphs', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner } = await graph.seed
      .owner()
      .member()
      .brand()
      .connection()
      .thread(25, { scheduledAt: graph.clock.in(3_600_000) })
      .thread(25, { scheduledAt: graph.clock.in(3_600_000) })
    // Apart, what one fetch has read the next one of the same operation reads again: each is a request.
    const few = await cost(graph, everything, { first: 5 }, { as: owner })
    const many = await cost(graph, everything, { first: 50 }, { as: owner })
    expect([few.length, many.length], many.join('\n')).toEqual(mode === 'apart' ? [20, 20] : [17, 17])
  })

  test('totalCount costs its statement only when it is selected', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner().brand().posts(3)
    const page = (more: string) => `{ posts { nodes { id } pageInfo { hasNextPage } ${more} } }`
    expect(await cost(graph, page(''), {}, { as: owner })).toHaveLength(1)
    expect(await cost(graph, page('totalCount'), {}, { as: owner })).toHaveLength(2)
  })

  test('fields that a viewer may not read cost nothing', async () => {
    await using graph = await supergraph()
    const { key, outsider } = await graph.seed.owner().outsider().key('publishing:posts.read').brand().posts(3)
    const document = '{ posts { nodes { id brand { name } connection { platform } } } widgets { title } }'
    for (let warm = 0; warm < 2; warm += 1) await graph.execute(document, {}, { as: key })
    expect(await graph.statements(() => graph.execute(document, {}, { as: key }))).toHaveLength(1)
    expect(await graph.statements(() => graph.execute('{ posts { nodes { id } } }'))).toHaveLength(0)
    expect(outsider.organizationId).not.toBe(key.organizationId)
  })
})

describe('S-03 a subgraph that fails affects its own fields only', () => {
  const broken = (graph: Supergraph, schema: string) => graph.rows(`alter schema ${schema} rename to ${schema}_away`)
  const summaries = (errors: readonly { path?: readonly unknown[]; extensions: { code: string } & Record<string, unknown> }[]) =>
    errors.map(({ path, extensions: { code, service } }) => `${service} ${code} ${path?.join('.')}`).sort()

  test('identity: names are null, posts are answered, and each error has code, path and service', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, posts } = await graph.seed.owner().brand().connection().posts(2)
    await broken(graph, 'identity')
    const { data, errors } = (
      await graph.execute('{ viewer { kind user { name } } posts { nodes { copy author { name } brand { name organization { name } } } } }', {}, { as: owner })
    ).partial
    expect(data).toEqual({
      viewer: { kind: 'USER', user: null },
      posts: { nodes: posts.toReversed().map(({ copy }) => ({ copy, author: null, brand: { name: 'A brand', organization: null } })) },
    })
    expect(new Set(summaries(errors).map(line => line.replace(/\d/g, 'n')))).toEqual(
      new Set([
        'identity INTERNAL_SERVER_ERROR posts.nodes.n.author.name',
        'identity INTERNAL_SERVER_ERROR posts.nodes.n.brand.organization.name',
        'identity INTERNAL_SERVER_ERROR viewer.user',
      ]),
    )
    for (const { message } of errors) expect(message).toBe('Internal server error')
  })

  test('publishing: its root fields, its fields on other types, and its widget are null; identity answers', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner().brand().post()
    await broken(graph, 'publishing')
    const { data, errors } = (
      await graph.execute(
        '{ viewer { user { id } organization { name brands { nodes { name } } } } posts { nodes { copy } } widgets { app payload { items { title } } } services { slug } }',
        {},
        { as: { ...owner, scopes: owner.scopes.filter(scope => /^(?:launcher|publishing):/.test(scope)) } },
      )
    ).partial
    expect(data).toMatchObject({
      viewer: { user: { id: owner.userId }, organization: { name: organization.name, brands: null } },
      posts: null,
      widgets: [{ app: 'publishing', payload: null }],
      services: listedSlugs.toSorted().map(slug => ({ slug })),
    })
    expect(summaries(errors)).toEqual(['publishing INTERNAL_SERVER_ERROR posts', 'publishing INTERNAL_SERVER_ERROR viewer.organization.brands'])
    // The cause is for the operator: in the log, with what it takes to find it, and in no answer.
    expect(JSON.stringify(errors)).not.toContain('relation')
    expect(graph.log.some(line => line.includes('relation \\"publishing.') && line.includes('requestId'))).toBe(true)
  })
})
