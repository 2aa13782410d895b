import { describe, expect, test } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { personally } from '../../../kit/viewers.ts'

const document = '{ publishingWidget { statistics { key value } items { id title at url } nextAction { label url } } }'

async function shown(graph: Supergraph, as: Viewer) {
  const { statistics, ...rest } = (await graph.execute(document, {}, { as })).data().publishingWidget
  return { ...rest, ...Object.fromEntries(statistics.map(({ key, value }: { key: string; value: number }) => [key, value])) }
}

describe('P-19 publishing’s widget', () => {
  test('counts posts scheduled for this day and published in this week, both UTC, to the millisecond', async () => {
    await using graph = await supergraph({ sandbox: true, now: '2027-03-03T23:00:00.000Z' })
    const at = (moment: string) => new Date(moment)
    const story = graph.seed.owner().brand()
    const { owner } = await story
    for (const scheduledAt of ['2027-03-03T23:59:59.999Z', '2027-03-04T00:00:00.000Z']) await story.post({ scheduledAt: at(scheduledAt) })
    const published = (moment: string, platformPostId: string) => ({ row: { status: 'PUBLISHED' as const, publishedAt: at(moment), platformPostId } })
    await story.post(published('2027-02-28T23:59:59.999Z', '1'))
    await story.post(published('2027-03-01T00:00:00.000Z', '2'))
    await story.post(published('2027-03-03T22:59:59.999Z', '3'))
    expect(await shown(graph, owner)).toMatchObject({ scheduledToday: 1, publishedThisWeek: 2, failed: 0, nextAction: null })
    await graph.clock.advance(3_600_000)
    expect(await shown(graph, owner), 'a day later').toMatchObject({ scheduledToday: 1, publishedThisWeek: 2 })
    await graph.clock.advance(4 * 86_400_000)
    expect(await shown(graph, owner), 'a week later').toMatchObject({ scheduledToday: 0, publishedThisWeek: 0 })
  })

  test('shows the next post, and the failed ones as tasks', async () => {
    await using graph = await supergraph({ sandbox: true })
    const story = graph.seed.owner().brand()
    const { owner } = await story
    await story.post({ scheduledAt: graph.clock.in(120_000), copy: 'Second' })
    const { post: next } = await story.post({ scheduledAt: graph.clock.in(60_000), copy: 'First\nof all' })
    await story.post({ row: { status: 'FAILED', failureCode: 'NO_CONNECTION', failureMessage: 'none', failedAt: graph.clock.now() } })
    expect(await shown(graph, owner)).toMatchObject({
      items: [{ id: next.id, title: 'First', at: next.scheduledAt!.toISOString(), url: `http://localhost:4000/publishing/posts/${next.id}` }],
      failed: 1,
      nextAction: { label: 'Look at the failed post', url: 'http://localhost:4000/publishing/posts?status=failed' },
    })
    await graph.clock.advance(60_001)
    expect((await shown(graph, owner)).items).toMatchObject([{ title: 'Second' }])
  })

  test('shows nothing of other organizations, and nothing without one', async () => {
    await using graph = await supergraph({ sandbox: true })
    const row = { status: 'FAILED' as const, failureCode: 'NO_CONNECTION', failureMessage: 'none', failedAt: graph.clock.now() }
    const { owner, outsider } = await graph.seed
      .owner()
      .outsider()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
      .post({ row })
    expect(await shown(graph, outsider)).toEqual({ scheduledToday: 0, failed: 0, publishedThisWeek: 0, items: [], nextAction: null })
    ;(await graph.execute(document, {}, { as: { ...personally(owner), scopes: owner.scopes } })).refused('FORBIDDEN')
  })
})
