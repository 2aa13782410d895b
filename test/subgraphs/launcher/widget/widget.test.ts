import { describe, expect, it, test } from 'vitest'
import type { Ask } from '../../../../platform/ask.ts'
import { systemClock } from '../../../../platform/clock.ts'
import { widgetStore } from '../../../../subgraphs/launcher/engines/widgets/widgets.ts'
import type { StoreContext } from '../../../../subgraphs/store/store.ts'
import { supergraph } from '../../../kit/supergraph.ts'

const asked = /from identity\.service_entries/

test('reads the list of services from the registry once a minute; the right to see a widget is checked each time', async () => {
  await using graph = await supergraph()
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  const asking = async (as: typeof owner) => {
    let apps: readonly string[] = []
    const statements = await graph.statements(async () => {
      apps = (await graph.execute('{ widgets { app } }', {}, { as })).data().widgets.map(({ app }: { app: string }) => app)
    })
    return { apps, times: statements.filter(text => asked.test(text)).length }
  }
  const all = ['agents', 'payments', 'providers', 'publishing']
  expect(await asking(owner)).toEqual({ apps: all, times: 1 })
  expect(await asking(outsider)).toEqual({ apps: all, times: 0 })
  const without = member.scopes.filter(scope => scope !== 'publishing:dashboard.read')
  expect((await asking({ ...member, scopes: without })).apps).not.toContain('publishing')
  await graph.rows(`update identity.service_entries set title = 'Another name' where slug = 'agents'`)
  await graph.clock.advance(59_999)
  expect((await asking(owner)).times).toBe(0)
  await graph.clock.advance(1)
  expect((await asking(owner)).times).toBe(1)
  expect((await graph.execute('{ widgets { title } }', {}, { as: member })).data().widgets).toContainEqual({ title: 'Another name' })
})

describe('widgetStore', () => {
  it('returns the other widgets when a service does not answer', async () => {
    const asked: object[] = []
    const payload = { statistics: [], items: [], nextAction: null }
    /** Answers for every service but publishing, which says nothing until nobody waits any more. */
    const ask = (async (_, variables: { readonly publishing: boolean }, { signal }) => {
      asked.push(variables)
      if (variables.publishing) await new Promise((_, fail) => signal!.addEventListener('abort', () => fail(signal!.reason)))
      return { agentsWidget: payload, paymentsWidget: payload, providersWidget: payload }
    }) as Ask
    const { readingOf } = widgetStore(ask, { read: async () => [] }, 20).open({
      clock: systemClock,
      reading: { signal: new AbortController().signal, statement: run => run() },
    } as StoreContext)
    const apps = ['publishing', 'agents', 'payments', 'providers']
    const read = await Promise.all(apps.map(app => readingOf(app)))
    expect(read.map(reading => reading?.state)).toEqual(['OVERVIEW', 'FRESH', 'FRESH', 'FRESH'])
    expect(read[0]?.failure?.code).toBe('TIMEOUT')
    expect(asked).toHaveLength(1 + apps.length)
  })
})
