import { expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { provideDemo as providePeople } from '../../../subgraphs/identity/setup/demo.ts'
import { provideDemo } from '../../../subgraphs/publishing/brand/demo.ts'
import { connectDemo } from '../../../subgraphs/publishing/connection/demo.ts'
import { type Supergraph, supergraph } from '../../kit/supergraph.ts'
import { letPublishingCall } from './network/client.ts'

interface Row {
  readonly id: string
  readonly copy: string
  readonly status: string
  readonly thread: string
  readonly position: number
  readonly days: number | null
}

const rowsOf = (graph: Supergraph, ids: readonly string[]) =>
  graph.rows<Row>(
    `select id, copy, status, thread_id as thread, position, extract(day from scheduled_at - created_at)::int as days
       from publishing.posts where copy not like 'A first look%' order by array_position($1::uuid[], id)`,
    [ids],
  )

test('the demo is a thread of three, a draft and a post in each state; another start creates only missing data, such as a lost key', async () => {
  await using graph = await supergraph({ sandbox: true })
  const people = await providePeople(graph.platform.identity, null)
  const made = await provideDemo(graph.platform.publishing.job(`user:${people.userId}`), people)
  const stand = await rowsOf(graph, made.postIds)
  expect(stand.map(({ id }) => id)).toEqual(made.postIds)
  expect(stand.map(({ status, days }) => [status, days])).toEqual([
    ['SCHEDULED', 60],
    ['SCHEDULED', 60],
    ['SCHEDULED', 60],
    ['DRAFT', null],
    ['SCHEDULED', 67],
    ['PUBLISHED', null],
    ['FAILED', null],
  ])
  expect(stand.map(({ thread }) => thread === made.threadId)).toEqual([true, true, true, false, false, false, false])
  expect(stand.slice(0, 3).map(({ position }) => position)).toEqual([1, 2, 3])

  const inCampaign = () => graph.rows('select c.name, p.copy from publishing.campaigns c join publishing.posts p on p.campaign_id = c.id order by p.copy')
  const campaign = await inCampaign()
  expect(campaign, 'a campaign of two posts').toHaveLength(2)

  const again = await providePeople(graph.platform.identity, people.apiKey)
  expect(again).toEqual(people)
  await graph.rows('delete from publishing.posts where id = $1', [made.postIds[3]])
  expect(await provideDemo(graph.platform.publishing.job(`user:${again.userId}`), again)).toEqual(made)
  expect(await rowsOf(graph, made.postIds)).toHaveLength(7)
  expect(await graph.rows('select id from publishing.campaigns')).toHaveLength(1)
  expect((await providePeople(graph.platform.identity, null)).apiKey).not.toBe(people.apiKey)
})

test('the demo finds its brand and posts by their ids: it creates none twice, whatever people changed', async () => {
  await using graph = await supergraph()
  const people = await providePeople(graph.platform.identity, null)
  const job = () => graph.platform.publishing.job(`user:${people.userId}`)
  const [made, meanwhile] = await Promise.all([provideDemo(job(), people), provideDemo(job(), people)])
  expect(meanwhile).toEqual(made)
  await graph.rows(`update publishing.brands set name = 'Ours'`)
  await graph.rows(`update publishing.posts set copy = 'Ours', version = version + 1 where status <> 'PUBLISHED'`)
  expect(await graph.rows('select from publishing.idempotency_keys')).toEqual([])
  expect(await provideDemo(job(), people)).toEqual(made)
  expect([await graph.rows('select from publishing.brands'), await rowsOf(graph, made.postIds)]).toMatchObject([{ length: 2 }, { length: 8 }])
})

test('the demo data of an earlier version, with other ids and no keys, is found by its texts', async () => {
  await using graph = await supergraph()
  const people = await providePeople(graph.platform.identity, null)
  const job = () => graph.platform.publishing.job(`user:${people.userId}`)
  const made = await provideDemo(job(), people)
  const [brandId, threadId] = [newId(), newId()]
  // It knew no figures, no campaigns, and nothing that posts are found by.
  await graph.rows('delete from publishing.post_search')
  await graph.rows('delete from publishing.post_figures')
  await graph.rows('update publishing.posts set campaign_id = null')
  await graph.rows('delete from publishing.campaigns')
  await graph.rows(
    `with brand as (insert into publishing.brands (id, organization_id, name, created_at, updated_at, created_by)
       select $1, organization_id, name, created_at, updated_at, created_by from publishing.brands where id = $4)
     update publishing.posts set id = case when id = thread_id and position = 1 and id = $3 then $2::uuid else gen_random_uuid() end,
       thread_id = case when thread_id = $3 then $2 else thread_id end where brand_id = $4`,
    [brandId, threadId, made.threadId, made.brandId],
  )
  await graph.rows('update publishing.posts set brand_id = $1 where brand_id = $2', [brandId, made.brandId])
  await graph.rows('delete from publishing.brands where id = $1', [made.brandId])
  const found = await provideDemo(job(), people)
  expect(found).toMatchObject({ brandId, threadId })
  expect((await rowsOf(graph, found.postIds)).map(({ id }) => id)).toEqual(found.postIds)
  expect(found.postIds.filter(id => made.postIds.includes(id))).toEqual([])
})

test('the demo has a brand whose posts need approval, with one that waits for it', async () => {
  await using graph = await supergraph()
  const people = await providePeople(graph.platform.identity, null)
  for (const _twice of [1, 2]) await provideDemo(graph.platform.publishing.job(`user:${people.userId}`), people)
  expect(
    await graph.rows(
      `select b.name, b.approval_mode as mode, p.status, p.approval from publishing.brands b join publishing.posts p on p.brand_id = b.id where b.name = 'Demo Studio'`,
    ),
  ).toEqual([{ name: 'Demo Studio', mode: 'REQUIRED', status: 'SCHEDULED', approval: 'PENDING' }])
  // Whoever takes the first brand of the list gets the one that publishes.
  expect(await graph.rows('select name from publishing.brands order by created_at')).toEqual([{ name: 'Demo Brand' }, { name: 'Demo Studio' }])
})

test('the demo’s brand is connected at the sandbox by its own consent, once', async () => {
  await using graph = await supergraph({ sandbox: true })
  const people = await providePeople(graph.platform.identity, null)
  const { brandId } = await provideDemo(graph.platform.publishing.job(`user:${people.userId}`), people)
  await letPublishingCall(graph)
  const asked: string[] = []
  const outbound = (url: string) => {
    asked.push(url)
    return fetch(url, { redirect: 'manual' })
  }
  const connect = (sandbox: string) => connectDemo(graph.job, { brandId, userId: people.userId, sandbox, outbound: outbound as never })
  await connect('http://127.0.0.1:1')
  expect(asked).toEqual([])
  for (const _twice of [1, 2]) expect(await connect(graph.x.origin)).toEqual([])
  const played = [...graph.job.networks.keys()]
  expect(asked).toHaveLength(played.length)
  expect(await graph.rows('select distinct platform from publishing.connections where brand_id = $1 and active order by 1', [brandId])).toEqual(
    played.toSorted().map(platform => ({ platform })),
  )
})
