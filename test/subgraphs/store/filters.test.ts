import { describe, expect, it } from 'vitest'
import { moment, table, text, uuid } from '../../../platform/sql/table.ts'
import { type FilterSql, filteredList, newestFirst } from '../../../subgraphs/store/filter/filters.ts'

const notes = table('house.notes', { id: uuid.key, organizationId: uuid, status: text, kind: text, createdAt: moment })
const now = new Date('2026-01-02T03:04:05.000Z')
const clock = { now: () => now }
const viewer = { organizationId: 'o', userId: 'p', roles: ['owner'] }

const filters = {
  status: 'eq',
  kind: 'any',
  createdAt: 'range',
  isLate: { where: (_: true, { bind, now }: FilterSql) => `t.created_at < ${bind(now)}`, depends: true },
} as const
const write = filteredList(notes, { by: 'organizationId' }, filters, newestFirst)
const page = { first: 2, limit: 3, after: null }

describe('a filtered list', () => {
  it('has nothing in its statement that is not asked, and for a viewer the viewer’s rows alone', () => {
    const { text, values } = write({ status: null }, { viewer, clock })
    expect(text).toBe('select count(*)::int as count from house.notes t where t.organization_id = $1')
    expect(values).toEqual(['o'])
    expect(write({}, { viewer: null, clock }).text).toBe('select count(*)::int as count from house.notes t')
  })

  it('passes every value as a parameter', () => {
    const { text, values } = write({ status: "'; drop", kind: ['A'], createdAt: { since: now, until: null } }, { viewer, clock }, page)
    const where = 't.organization_id = $5 and t.status = $1 and t.kind = any($2::text[]) and t.created_at >= $3'
    expect(text).toMatch(new RegExp(`where ${where.replaceAll(/[$()[\].]/g, '\\$&')} order by t.created_at desc, t.id desc limit \\$4$`))
    expect(values).toEqual(["'; drop", ['A'], now, 3, 'o'])
  })

  it('goes on behind a cursor in its order', () => {
    const { text, values } = write({}, { viewer, clock }, { ...page, after: ['2026-01-01T00:00:00.000Z', 'id'] })
    expect(text).toContain('(t.created_at, t.id) < ($1::timestamptz, $2::uuid) order by t.created_at desc, t.id desc limit $3')
    expect(values).toEqual(['2026-01-01T00:00:00.000Z', 'id', 3, 'o'])
  })

  it('is planned each time where a condition of its own says so', () => {
    expect(write({ isLate: true }, { viewer, clock })).toMatchObject({ depends: true, values: [now, 'o'] })
    expect(write({ isLate: null }, { viewer, clock })).toMatchObject({ depends: false })
  })
})
