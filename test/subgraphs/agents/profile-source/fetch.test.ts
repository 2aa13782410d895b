import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { fetchText } from '../../../../subgraphs/agents/engines/page/fetch.ts'
import { openFetching } from '../../../../subgraphs/agents/profile/profile-source/fetch.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { createProfileSource, createStyleSnapshot, profileSource } from '../documents.ts'
import { seedProfile } from '../person-profile/seed.ts'

/**
 * A site on this machine, and a platform that may go there although that is no public place.
 * @param isInside whether only the operator may have it called, as settings allow
 */
async function siteAnd(answer: RequestListener, { isInside = false } = {}) {
  await using opening = new AsyncDisposableStack()
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    answer(request, response)
  })
  opening.defer(() => {
    server.closeAllConnections()
    return new Promise<void>(done => server.close(() => done()))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const graph = opening.use(await supergraph(isInside ? { inside: [site] } : { trusts: [site] }))
  const { owner } = await graph.seed.owner()
  const { id } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
  const open = opening.move()
  return {
    site,
    asked,
    graph,
    owner,
    profileId: id,
    async [Symbol.asyncDispose]() {
      // Whoever still waits for an answer is not waited for.
      server.closeAllConnections()
      await open.disposeAsync()
    },
  }
}

const add = async (graph: Supergraph, as: Viewer, personProfileId: string, url: string) =>
  (await graph.execute(createProfileSource, { input: { personProfileId, kind: 'URL', title: 'A page', url } }, { as })).data().createProfileSource
const read = async (graph: Supergraph, as: Viewer, id: string) => (await graph.execute(profileSource, { id }, { as })).data().profileSource
/** Another process, which works with everybody's rows. */
const jobOf = (graph: Supergraph) => () => graph.platform.agents.job('sources')
/** A source that is to be fetched by now, and that no sweep was told of. */
async function due(graph: Supergraph, profileId: string, url: string, createdBy = 'user:x'): Promise<string> {
  const id = newId(graph.clock.now())
  await graph.rows(
    `insert into agents.profile_sources (profile_id, id, kind, title, url, status, fetch_at, created_at, updated_at, created_by)
     values ($1, $2, 'URL', 'A page', $3, 'PROCESSING', $4, $4, $4, $5)`,
    [profileId, id, url, graph.clock.now(), createdBy],
  )
  return id
}
const page: RequestListener = (_, response) =>
  response.setHeader('content-type', 'text/html; charset=utf-8').end('<title>T</title><h1>Hello</h1><p>One two.</p>')

describe('A-05 an address', () => {
  test('is fetched after it was added, and the text of its page is then a source like any other', async () => {
    await using stage = await siteAnd(page)
    const { graph, owner, site, profileId } = stage
    const made = await add(graph, owner, profileId, `${site}/page`)
    expect(made).toMatchObject({ status: 'PROCESSING', url: `${site}/page`, text: null, contentHash: null, failure: null })
    await graph.clock.run(100)
    await expect.poll(() => read(graph, owner, made.id)).toMatchObject({ status: 'READY', text: expect.stringContaining('Hello\n\nOne two.'), failure: null })
    expect(stage.asked).toEqual(['/page'])
    const { createStyleSnapshot: taken } = (await graph.execute(createStyleSnapshot, { input: { personProfileId: profileId } }, { as: owner })).data()
    expect(taken.sources.map(({ id }: { id: string }) => id)).toContain(made.id)
    await graph.clock.run(120_000)
    expect(stage.asked).toEqual(['/page'])
  })

  test('that leads on is followed, as long as it leads to a public place', async () => {
    await using stage = await siteAnd((request, response) => {
      if (request.url === '/here') return response.writeHead(302, { location: '/there' }).end()
      if (request.url === '/inside') return response.writeHead(301, { location: 'http://169.254.169.254/latest' }).end()
      if (request.url === '/around') return response.writeHead(307, { location: '/around' }).end()
      return response.setHeader('content-type', 'text/plain').end('There.')
    })
    const { graph, owner, site, profileId } = stage
    const found = new Map<string, string>()
    for (const way of ['/here', '/inside', '/around']) found.set(way, (await add(graph, owner, profileId, `${site}${way}`)).id)
    await graph.clock.run(100)
    await expect.poll(() => read(graph, owner, found.get('/here')!)).toMatchObject({ status: 'READY', text: 'There.' })
    await expect.poll(() => read(graph, owner, found.get('/inside')!)).toMatchObject({ status: 'FAILED', failure: { code: 'ADDRESS_REFUSED' } })
    await expect.poll(() => read(graph, owner, found.get('/around')!)).toMatchObject({ status: 'FAILED', failure: { code: 'UPSTREAM_FAILED' } })
    expect(stage.asked.filter(way => way === '/around')).toHaveLength(6)
  })

  test.each<[string, string, RequestListener]>([
    ['NOT_TEXT', 'a picture', (_, response) => response.setHeader('content-type', 'image/png').end('x')],
    ['EMPTY', 'a page without words', (_, response) => response.setHeader('content-type', 'text/html').end('<script>1</script>')],
    ['TOO_LARGE', 'more than a source may have', (_, response) => response.setHeader('content-type', 'text/plain').end('x'.repeat(200_001))],
    ['UPSTREAM_FAILED', 'nothing', (_, response) => response.writeHead(404).end()],
  ])('FAILED with %s where there is %s, and is asked once', async (code, _, answer) => {
    await using stage = await siteAnd(answer)
    const { graph, owner, site, profileId } = stage
    const { id } = await add(graph, owner, profileId, `${site}/page`)
    await graph.clock.run(100)
    await expect
      .poll(() => read(graph, owner, id))
      .toMatchObject({ status: 'FAILED', text: null, contentHash: null, failure: { code, message: expect.any(String) } })
    await graph.clock.run(120_000)
    expect(stage.asked).toEqual(['/page'])
  })

  test('that only the operator may have called is refused without being asked', async () => {
    await using stage = await siteAnd(page, { isInside: true })
    const { graph, owner, site, profileId } = stage
    const { id } = await add(graph, owner, profileId, `${site}/page`)
    await graph.clock.run(100)
    await expect.poll(() => read(graph, owner, id)).toMatchObject({ status: 'FAILED', text: null, failure: { code: 'ADDRESS_REFUSED' } })
    expect(stage.asked).toEqual([])
  })

  test('inside the network is refused without being asked', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id: profileId } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
    for (const url of ['http://127.0.0.1:1/', 'http://169.254.169.254/', 'http://[::1]/', 'http://localhost:1/']) {
      const { id } = await add(graph, owner, profileId, url)
      await graph.clock.run(100)
      await expect.poll(() => read(graph, owner, id), { message: url }).toMatchObject({ status: 'FAILED', failure: { code: 'ADDRESS_REFUSED' } })
    }
  })

  test('that does not answer is tried three times, and then no more', async () => {
    await using stage = await siteAnd((_, response) => response.writeHead(503).end())
    const { graph, owner, site, profileId } = stage
    const { id } = await add(graph, owner, profileId, `${site}/page`)
    await graph.clock.run(100)
    await expect.poll(() => stage.asked).toHaveLength(1)
    await expect
      .poll(async () => graph.rows('select attempts from agents.profile_sources where id = $1 and fetch_at < $2', [id, graph.clock.in(10_000)]))
      .toHaveLength(1)
    expect((await read(graph, owner, id)).status).toBe('PROCESSING')
    await graph.clock.run(3_000)
    await expect.poll(() => stage.asked).toHaveLength(2)
    await expect
      .poll(async () => graph.rows('select from agents.profile_sources where id = $1 and fetch_at < $2', [id, graph.clock.in(20_000)]))
      .toHaveLength(1)
    await graph.clock.run(40_000)
    await expect.poll(() => read(graph, owner, id)).toMatchObject({ status: 'FAILED', failure: { code: 'UPSTREAM_FAILED' } })
    await graph.clock.run(120_000)
    expect(stage.asked).toHaveLength(3)
  })

  test('that is slow holds up two others of the same person, nobody else’s, and not the sweep, which readiness would call late', async () => {
    await using stage = await siteAnd((request, response) => (request.url === '/page' ? page(request, response) : undefined))
    const { graph, owner, site, profileId } = stage
    const { owner: other } = await graph.seed.owner()
    const theirs = await seedProfile(graph, { organizationId: other.organizationId!, subjectId: other.userId! })
    for (let count = 0; count < 5; count += 1) await add(graph, owner, profileId, `${site}/slow`)
    const { id } = await add(graph, other, theirs.id, `${site}/page`)
    await graph.clock.run(100)
    await expect.poll(() => read(graph, other, id)).toMatchObject({ status: 'READY' })
    await graph.clock.run(50_000)
    expect(await graph.platform.agents.ready!()).toBeUndefined()
    expect(stage.asked.filter(way => way === '/slow')).toHaveLength(2)
  })

  test('whose process was killed is fetched by another a minute later, and given up after three such deaths', async () => {
    await using stage = await siteAnd(page)
    const { graph, owner, site, profileId } = stage
    const held = async (attempts: number) => {
      // As somebody leaves it who has written down that they ask, and then is gone.
      const id = newId(graph.clock.now())
      await graph.rows(
        `insert into agents.profile_sources (profile_id, id, kind, title, url, status, fetch_at, attempts, created_at, updated_at, created_by)
         values ($1, $2, 'URL', 'A page', $3, 'PROCESSING', $4, $5, $6, $6, 'user:x')`,
        [profileId, id, `${site}/held`, graph.clock.in(60_000), attempts, graph.clock.now()],
      )
      return id
    }
    const [once, often] = [await held(1), await held(3)]
    await graph.clock.run(50_000)
    expect([(await read(graph, owner, once)).status, stage.asked]).toEqual(['PROCESSING', []])
    await graph.clock.run(60_000)
    await expect.poll(() => read(graph, owner, once)).toMatchObject({ status: 'READY' })
    await expect.poll(() => read(graph, owner, often)).toMatchObject({ status: 'FAILED', failure: { code: 'UPSTREAM_FAILED' } })
    expect(stage.asked).toEqual(['/held'])
  })
})

test('A-05 of two processes that look at the same moment one asks', async () => {
  const answers: (() => void)[] = []
  await using stage = await siteAnd((request, response) => void answers.push(() => page(request, response)))
  const { graph, owner, site, profileId } = stage
  const [one, other] = [openFetching(jobOf(graph)), openFetching(jobOf(graph))]
  const id = await due(graph, profileId, `${site}/page`)
  await one.sweep.run()
  await expect.poll(() => answers.length).toBe(1)
  await other.sweep.run()
  answers[0]!()
  await expect.poll(() => read(graph, owner, id)).toMatchObject({ status: 'READY' })
  expect(stage.asked).toEqual(['/page'])
})

test.each([
  ['is not answered any more', 404],
  ['is answered at last', 200],
])('A-05 an address that another process took over after a minute keeps what that one found, when the first %s', async (_, status) => {
  const answers: ((status: number, text: string) => void)[] = []
  await using stage = await siteAnd((_request, response) =>
    answers.push((code, text) => void response.writeHead(code, { 'content-type': 'text/plain' }).end(text)),
  )
  const { graph, owner, site, profileId } = stage
  const [slow, next] = [openFetching(jobOf(graph)), openFetching(jobOf(graph))]
  const id = await due(graph, profileId, `${site}/page`)
  const ended = [slow, next].map(({ sweep }) => new Promise<void>(done => sweep.wakes!(() => done())))
  await slow.sweep.run()
  await expect.poll(() => answers.length).toBe(1)
  await graph.clock.advance(60_000)
  await next.sweep.run()
  await expect.poll(() => answers.length).toBe(2)
  answers[0]!(status, 'Too late.')
  await ended[0]
  expect(await read(graph, owner, id)).toMatchObject({ status: 'PROCESSING', failure: null })
  answers[1]!(200, 'In time.')
  await ended[1]
  expect(await read(graph, owner, id)).toMatchObject({ status: 'READY', text: 'In time.', failure: null })
})

test('A-05 fetches eight sources at once, two of one person, and takes the next when one has ended', async () => {
  const answers: (() => void)[] = []
  await using stage = await siteAnd((request, response) => void answers.push(() => page(request, response)))
  const { graph, site, profileId } = stage
  const fetching = openFetching(jobOf(graph))
  let looks = 0
  fetching.sweep.wakes!(() => {
    looks += 1
  })
  for (let person = 0; person < 5; person += 1) for (let count = 0; count < 3; count += 1) await due(graph, profileId, `${site}/${person}`, `user:${person}`)
  await fetching.sweep.run()
  await expect.poll(() => answers.length).toBe(8)
  expect(
    Map.groupBy(stage.asked, way => way)
      .values()
      .every(ways => ways.length <= 2),
  ).toBe(true)
  expect(looks).toBe(0)
  answers[0]!()
  await expect.poll(() => looks).toBe(1)
  await fetching.sweep.run()
  await expect.poll(() => answers.length).toBe(9)
})

test('A-05 a fetch interrupted by a stop is not stored, and repeated later', async () => {
  const answers: (() => void)[] = []
  await using stage = await siteAnd((request, response) => void answers.push(() => page(request, response)))
  const { graph, owner, site, profileId } = stage
  const fetching = openFetching(jobOf(graph))
  const ended = new Promise<void>(done => fetching.sweep.wakes!(() => done()))
  const id = await due(graph, profileId, `${site}/page`)
  await fetching.sweep.run()
  await expect.poll(() => answers.length).toBe(1)
  await fetching.stop()
  answers[0]!()
  await ended
  expect(await read(graph, owner, id)).toMatchObject({ status: 'PROCESSING' })
  await fetching.sweep.run()
  expect(stage.asked).toEqual(['/page'])
})

test.each([
  [429, 'again'],
  [500, 'again'],
  [503, 'again'],
  [204, 'failure'],
  [304, 'failure'],
  [400, 'failure'],
  [404, 'failure'],
])('A-05 an address that is answered with %d is tried again only when that may pass: %s', async (status, outcome) => {
  const answer = { status, headers: new Headers(), text: '' }
  expect(await fetchText(async () => answer, 'https://page.test/', 200_000)).toEqual({ [outcome]: { code: 'UPSTREAM_FAILED', message: expect.any(String) } })
})
