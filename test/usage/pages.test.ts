import { buildSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { deprecationsIn, readDeprecationDays, writeDeprecationDays } from '../../router/metrics/usage/deprecations.ts'
import type { CoordinateUse } from '../../router/metrics/usage/store.ts'
import { createUseReader } from '../../router/pages/graph-use.ts'
import { smallGraph } from '../door/graph.ts'
import { openRouter, schemaEngine } from '../door/platform.ts'

const at = new Date('2026-11-23T08:00:00Z')
const use = (coordinate: string, client: string, version: string, operations: string[], count: number): CoordinateUse => ({
  ...{ coordinate, client, version, operations, count, lastUsedAt: at },
})
const uses = [use('Viewer.kind', 'web', '3.2', ['Who', '<b>'], 7), use('Viewer.kind', 'unknown', 'unknown', ['anonymous'], 1)]
const usage = {
  watch: (engine: never) => engine,
  read: async (coordinates: readonly string[], days: number) => uses.filter(({ coordinate }) => days === 30 && coordinates.includes(coordinate)),
  flush: async () => {},
} as never

describe('/docs/graph', () => {
  it('shows use at each field to whoever may read /metrics, and to nobody else', async () => {
    await using platform = await openRouter(schemaEngine(smallGraph()), { usage, metricsToken: 'a-token-of-this-test' })
    const page = async (headers: Record<string, string> = {}) =>
      (await platform.ask('/docs/graph/Viewer', { headers: { 'x-forwarded-for': '192.0.2.1', ...headers } })).text
    const shown = await page({ authorization: 'Bearer a-token-of-this-test' })
    expect(shown).toContain('Used 8 times in 30 days: web 3.2 (Who, &lt;b&gt;), unknown (anonymous); last on 2026-11-23.')
    expect(shown.match(/Not used in 30 days\./g)).toHaveLength(5)
    for (const headers of [{}, { authorization: 'Bearer another' }]) expect(await page(headers)).not.toMatch(/days/)
    // From this machine without a proxy.
    expect((await platform.ask('/docs/graph/Viewer')).text).toContain('Used 8 times')
  })

  it('says so where use cannot be read, and reads it once a minute', async () => {
    let [now, asked] = [0, 0]
    const read = async (): Promise<readonly CoordinateUse[]> => {
      asked += 1
      if (asked === 1) throw new Error('the database is away')
      return uses
    }
    const reader = createUseReader({ read, isShownTo: () => true }, () => now)
    expect(await reader('Viewer', [])).toBeNull()
    now += 59_999
    expect(await reader('Viewer', [])).toBeNull()
    now += 1
    expect((await reader('Viewer', []))!('Viewer.kind')).toContain('Used 8 times')
    expect(asked).toBe(2)
  })
})

describe('schema/deprecated.yaml', () => {
  const schema = buildSchema(`
    type Query { old(by: Int @deprecated(reason: "no") first: Int): Int @deprecated(reason: "use new") new: State }
    enum State { ON OFF @deprecated(reason: "gone") }
    input In { was: Int @deprecated(reason: "unused") }
  `)

  it('keeps the day of known deprecations, gives new ones today, and forgets those that are gone', () => {
    const before = '# head\nQuery.old: 2026-01-02\nQuery.removed: 2026-01-03\n'
    const text = writeDeprecationDays(schema, before, '2026-11-28')
    expect(text.split('\n').slice(1)).toEqual(['In.was: 2026-11-28', 'Query.old: 2026-01-02', 'Query.old(by:): 2026-11-28', 'State.OFF: 2026-11-28', ''])
    expect(writeDeprecationDays(schema, text, '2026-12-01')).toBe(text)
    expect(readDeprecationDays(text).get('Query.old(by:)')).toBe('2026-11-28')
    expect(Object.fromEntries(deprecationsIn(schema))).toEqual({ 'Query.old': 'use new', 'Query.old(by:)': 'no', 'State.OFF': 'gone', 'In.was': 'unused' })
  })
})
