import { expect, test } from 'vitest'
import { provideDemo as providePeople } from '../../../subgraphs/identity/setup/demo.ts'
import { connectDemo, provideDemo } from '../../../subgraphs/publishing/demo.ts'
import { supergraph } from '../../kit/supergraph.ts'

interface Row {
  readonly id: string
  readonly mark: string
  readonly status: string
  readonly thread: string
  readonly position: number
  readonly days: number | null
}

test('the demo is a thread of three, a draft and a post in each state; another start makes only what is missing, the lost key among it', async () => {
  await using graph = await supergraph({ sandbox: true })
  const people = await providePeople(graph.platform.identity, null)
  const made = await provideDemo(graph.platform.publishing.job(`user:${people.userId}`), people)
  const rows = () =>
    graph.rows<Row>(
      `select p.id, k.key as mark, status, thread_id as thread, position, extract(day from scheduled_at - created_at)::int as days
         from publishing.posts p join publishing.idempotency_keys k on k.made_id = p.id order by array_position($1::uuid[], p.id)`,
      [made.postIds],
    )
  const stand = await rows()
  expect(stand.map(({ id }) => id)).toEqual(made.postIds)
  expect(stand.map(({ mark, status, days }) => [mark, status, days])).toEqual([
    ['demo-thread-1', 'SCHEDULED', 60],
    ['demo-thread-2', 'SCHEDULED', 60],
    ['demo-thread-3', 'SCHEDULED', 60],
    ['demo-draft', 'DRAFT', null],
    ['demo-scheduled', 'SCHEDULED', 67],
    ['demo-published', 'PUBLISHED', null],
    ['demo-failed', 'FAILED', null],
  ])
  expect(stand.map(({ thread }) => thread === made.threadId)).toEqual([true, true, true, false, false, false, false])
  expect(stand.slice(0, 3).map(({ position }) => position)).toEqual([...stand.slice(0, 3).map(({ position }) => position)].sort((a, b) => a - b))

  const [again, draft] = [await providePeople(graph.platform.identity, people.apiKey), made.postIds[3]!]
  expect(again).toEqual(people)
  await graph.rows('delete from publishing.posts where id = $1', [draft])
  const second = await provideDemo(graph.platform.publishing.job(`user:${again.userId}`), again)
  expect(second).toEqual({ ...made, postIds: made.postIds.with(3, second.postIds[3]!) })
  expect(second.postIds[3]).not.toBe(draft)
  expect((await providePeople(graph.platform.identity, null)).apiKey).not.toBe(people.apiKey)
})

test('the demo’s brand is connected at the sandbox by its own consent, once', async () => {
  await using graph = await supergraph({ sandbox: true })
  const people = await providePeople(graph.platform.identity, null)
  const { brandId } = await provideDemo(graph.platform.publishing.job(`user:${people.userId}`), people)
  const asked: string[] = []
  const outbound = (url: string) => {
    asked.push(url)
    return fetch(url, { redirect: 'manual' })
  }
  const connect = (sandbox: string) => connectDemo(graph.job, { brandId, userId: people.userId, sandbox, outbound: outbound as never })
  await connect('http://127.0.0.1:1')
  expect(asked).toEqual([])
  for (const _twice of [1, 2]) await connect(graph.x.origin)
  expect(asked).toHaveLength(1)
  expect(await graph.rows('select brand_id as brand, platform from publishing.connections')).toEqual([{ brand: brandId, platform: 'X' }])
})
