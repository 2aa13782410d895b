import { describe, expect, it } from 'vitest'
import { arranged } from '../../../subgraphs/launcher/dashboard/rules.ts'

const now = new Date('2026-03-02T09:00:00Z')
const board = { id: '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e', name: 'One', items: [] }
const present = { items: [{ app: 'agents', order: 0, size: 'SMALL' as const, hidden: true }], boards: [board] }
const apps = (count: number) => Array.from({ length: count }, (_, at) => ({ app: `app-${at}` }))

describe('arranged', () => {
  it('sorts items by their order, which is their place where it is not given', () => {
    expect(arranged(null, { items: [{ app: 'b' }, { app: 'a', order: 0, hidden: true }, { app: 'c', size: 'LARGE' }] }, now).items).toEqual([
      { app: 'b', order: 0, size: 'MEDIUM', hidden: false },
      { app: 'a', order: 0, size: 'MEDIUM', hidden: true },
      { app: 'c', order: 2, size: 'LARGE', hidden: false },
    ])
  })

  it('keeps what is not mentioned', () => {
    expect(arranged(present, {}, now)).toEqual(present)
    expect(arranged(present, { items: [] }, now)).toEqual({ items: [], boards: [board] })
  })

  it('gives a new board an id, and keeps that of a known one', () => {
    const { boards } = arranged(
      present,
      {
        boards: [
          { name: 'New', items: [] },
          { id: board.id, name: 'Two', items: [] },
        ],
      },
      now,
    )
    expect(boards).toEqual([
      { id: expect.stringMatching(/^[\w-]{36}$/), name: 'New', items: [] },
      { ...board, name: 'Two' },
    ])
  })

  it.each([
    ['items', { items: apps(101) }],
    ['items', { items: [{ app: 'a' }, { app: 'a' }] }],
    ['items', { items: [{ app: 'A b' }] }],
    ['items', { items: [{ app: 'a', order: -1 }] }],
    ['boards', { boards: Array.from({ length: 11 }, (_, at) => ({ name: `${at}`, items: [] })) }],
    [
      'boards.name',
      {
        boards: [
          { name: 'One', items: [] },
          { name: 'one', items: [] },
        ],
      },
    ],
    ['boards.name', { boards: [{ name: 'x'.repeat(81), items: [] }] }],
    ['boards.items', { boards: [{ name: 'One', items: apps(101) }] }],
    ['boards.id', { boards: [{ id: '0197a3c2-5e1f-7c4b-9d2e-000000000000', name: 'One', items: [] }] }],
    ['boards.id', { boards: ['One', 'Two'].map(name => ({ id: board.id, name, items: [] })) }],
  ])('refuses a wrong %s', (field, wrong) => {
    expect(() => arranged(present, wrong, now)).toThrow(expect.objectContaining({ extensions: expect.objectContaining({ code: 'BAD_USER_INPUT', field }) }))
  })
})
