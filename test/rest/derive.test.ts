import { buildSchema, print } from 'graphql'
import { describe, expect, it } from 'vitest'
import { readAccessTable } from '../../router/access/rules.ts'
import { openapiDocument } from '../../router/openapi/document.ts'
import type { DerivedRow } from '../../router/rest/derive/derive.ts'
import { type NounRoutes, nounRoutes } from '../../router/rest/derive/route.ts'
import { deriveTables } from '../../router/rest/derive/tables.ts'
import type { RowInput } from '../../router/rest/row.ts'
import { breaksOf } from '../../schema/released/routes.ts'

const sdl = `
  type Query {
    loan(id: ID!): Loan
    loans(kind: LoanKind, open: Boolean, days: [Int!], first: Int, after: String): LoanConnection
    shelves: [Shelf]
    shelf(id: ID!): Shelf
  }
  type Mutation { createLoan(input: CreateLoanInput!): Loan  moveLoans(input: MoveLoansInput!): MoveLoansPayload  endLoan(input: EndLoanInput!): Loan }
  "How long it is." enum LoanKind { SHORT VERY_LONG }
  "A loan." type Loan { id: ID! kind: LoanKind! title: String "Who has it." reader: Reader! readers: [Reader] waiting: Int! version: Int! }
  type Reader { "A person." id: ID! name: String }
  type LoanConnection { nodes: [Loan] pageInfo: PageInfo! totalCount: Int! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Shelf { id: ID! loans(first: Int, after: String): LoanConnection }
  type MoveLoansPayload { moved: Boolean! loan: Loan secret: String }
  input CreateLoanInput { title: String! kind: LoanKind days: Int idempotencyKey: String! }
  input MoveLoansInput { shelfId: ID! items: [MoveItem!]! idempotencyKey: String }
  input MoveItem { id: ID! kind: LoanKind expectedVersion: Int }
  input EndLoanInput { id: ID! reason: String expectedVersion: Int }`
const select = { Loan: { fields: 'id kind title readerId: reader { id } readerIds: readers { id } version', changing: ['title'] } }
const nothing: RowInput = { params: {}, query: {}, body: {}, idempotencyKey: undefined, expectedVersion: undefined }

/** Derives the routes of a noun of publishing. */
function derived(routes: NounRoutes['routes'], more: Omit<NounRoutes, 'routes'> = { select }, graph = sdl) {
  const { tables, mistakes } = deriveTables([{ slug: 'publishing', rows: nounRoutes({ ...more, routes }) }], buildSchema(graph))
  return { rows: tables[0]!.rows as readonly DerivedRow[], mistakes: mistakes.map(({ at, sentence }) => `${at}: ${sentence}`) }
}

describe('a derived operation', () => {
  it('takes every argument of the root field and the selection declared for its type', () => {
    const { rows } = derived({ 'GET /api/loans': 'loans' })
    expect(print(rows[0]!.operation).replaceAll(/\s+/g, ' ')).toBe(
      'query RestLoans($kind: LoanKind, $open: Boolean, $days: [Int!], $first: Int, $after: String) { ' +
        'loans(kind: $kind, open: $open, days: $days, first: $first, after: $after) { ' +
        'nodes { id kind title readerId: reader { id } readerIds: readers { id } version } pageInfo { hasNextPage endCursor } totalCount } }',
    )
  })

  it('declares variables for arguments of fields below the root', () => {
    const { rows } = derived({ 'GET /api/shelves/:id/loans': { run: 'shelf', name: 'shelfLoans', select: 'loans(first: $first, after: $after) @spread' } })
    expect(print(rows[0]!.operation)).toContain('query RestShelfLoans($id: ID!, $first: Int, $after: String)')
    expect(rows[0]!.query).toEqual(['first', 'after'])
    const loans = { nodes: [], pageInfo: { hasNextPage: true, endCursor: 'c' }, totalCount: 1 }
    expect(rows[0]!.reply({ shelf: { loans } })).toMatchObject({ status: 200, body: { loans: [], nextCursor: 'c', totalCount: 1 } })
    expect(rows[0]!.reply({ shelf: { loans: null } })).toBeNull()
  })

  it.each<[string, NounRoutes['routes'], string]>([
    ['the graph has no such root field', { 'GET /api/loans': 'lones' }, 'the graph has no root field lones'],
    ['a field of the selection does not exist', { 'GET /api/loans/:id': { run: 'loan', select: 'colour' } }, 'Loan has no field colour'],
    ['a type has no selection', { 'GET /api/shelves': 'shelves' }, 'nothing says which fields of Shelf are shown: add it to select'],
    ['a part of the path is no argument', { 'GET /api/loans/:loanId': 'loan' }, 'the parameter loanId is no argument of loan: say in names what it is'],
    ['the route omits what the graph needs', { 'POST /api/loans': { run: 'createLoan', omit: ['title'] } }, 'the graph needs title, and the route omits it'],
  ])('is refused when %s', (_case, routes, sentence) => {
    expect(derived(routes).mistakes).toEqual([expect.stringContaining(sentence)])
  })
})

describe('the input of a derived route', () => {
  it('reads numbers, Booleans, enum values and lists of a query string by the types of their arguments', () => {
    const { rows } = derived({ 'GET /api/loans': 'loans' })
    const read = (query: Record<string, string>) => rows[0]!.variables({ ...nothing, query })
    expect(read({ kind: 'very-long', open: 'false', days: '1,2', first: '3', after: 'x' })).toEqual({
      kind: 'VERY_LONG',
      open: false,
      days: [1, 2],
      first: 3,
      after: 'x',
    })
    expect(read({ open: 'maybe', first: 'many' })).toEqual({ open: 'maybe', first: 'many' })
  })

  it('takes the input’s fields that neither path nor header has as keys of the body', () => {
    const { rows } = derived({ 'POST /api/loans': 'createLoan', 'DELETE /api/loans/:loanId': 'endLoan' }, { select, names: { id: 'loanId' } })
    expect(rows.map(({ body }) => body)).toEqual([['title', 'kind', 'days'], ['reason']])
    expect(rows[0]!.variables({ ...nothing, body: { title: 'Crust', kind: 'short' } })).toEqual({
      input: { title: 'Crust', kind: 'SHORT', idempotencyKey: '' },
    })
    expect(rows[1]!.variables({ ...nothing, params: { loanId: '7' }, expectedVersion: 3 })).toEqual({ input: { id: '7', expectedVersion: 3 } })
    expect(rows[1]!.names).toEqual({ id: 'loanId' })
  })

  it('translates the names of inputs within a list', () => {
    const { rows } = derived({ 'POST /api/shelves/:shelfId/loans': { run: 'moveLoans', select: 'moved' } })
    const read = (items: unknown) => rows[0]!.variables({ ...nothing, params: { shelfId: '1' }, body: { items } })
    expect(read([{ id: '7', kind: 'short', version: 2 }, 7])).toEqual({ input: { shelfId: '1', items: [{ id: '7', kind: 'SHORT', expectedVersion: 2 }, 7] } })
    expect(read('nonsense')).toEqual({ input: { shelfId: '1', items: 'nonsense' } })
  })

  it('breaks the released contract when an input gets another required field', () => {
    const document = (graph: string) =>
      openapiDocument({
        tables: [{ slug: 'publishing', rows: nounRoutes({ select, routes: { 'POST /api/loans': 'createLoan' } }) }],
        schema: buildSchema(graph),
        access: readAccessTable(graph),
        version: '1',
        examples: {},
      }).document
    const more = sdl.replace('{ title: String!', '{ title: String! shelf: ID!')
    expect(breaksOf(document(sdl), document(more))).toEqual([expect.stringMatching(/^POST \/publishing\/api\/loans: .*shelf/)])
  })
})

describe('the answer of a derived route', () => {
  const loan = { id: '7', kind: 'VERY_LONG', title: null, readerId: { id: 'a' }, readerIds: [{ id: 'a' }, null], version: 3 }
  const shown = { id: '7', kind: 'very_long', title: null, readerId: 'a', readerIds: ['a'], version: 3 }

  it('is a record with enum values in lower case, ids in place of references, and its version as entity tag', () => {
    const { rows } = derived({ 'GET /api/loans/:id': 'loan' })
    expect(rows[0]!.reply({ loan })).toEqual({ status: 200, headers: { etag: '"3"' }, body: shown })
    expect(rows[0]!.reply({ loan: { ...loan, title: 'Crust', readerIds: null } })).toMatchObject({ headers: { etag: '"3-Crust"' }, body: { readerIds: [] } })
    expect(rows[0]!.reply({ loan: null })).toBeNull()
  })

  it('is a page under the last word of the path, without entries that the caller may not see', () => {
    const { rows } = derived({ 'GET /api/old-loans': 'loans' })
    const page = { nodes: [loan, null], pageInfo: { hasNextPage: false, endCursor: 'c' }, totalCount: 2 }
    expect(rows[0]!.reply({ loans: page })).toEqual({ status: 200, headers: {}, body: { oldLoans: [shown], nextCursor: null, totalCount: 2 } })
  })

  it('is 201 with the created record’s address when a route reads it there', () => {
    const routes = { 'POST /api/loans': 'createLoan', 'GET /api/loans/:id': 'loan' } as const
    expect(derived(routes).rows[0]!.reply({ createLoan: loan })).toMatchObject({ status: 201, headers: { etag: '"3"', location: '/publishing/api/loans/7' } })
    expect(derived({ 'POST /api/loans': 'createLoan' }).rows[0]!.reply({ createLoan: loan })).toEqual({ status: 201, headers: { etag: '"3"' }, body: shown })
  })

  it('is 204 without a body when something is deleted', () => {
    const { rows } = derived({ 'DELETE /api/loans/:id': 'endLoan' })
    expect(print(rows[0]!.operation)).toMatch(/endLoan\(input: \$input\) \{\s+id\s+\}/)
    expect(rows[0]!.reply({ endLoan: { id: '7' } })).toEqual({ status: 204 })
  })

  it('spreads a record among the fields of its payload, and is 404 without it', () => {
    const select = { Loan: 'id version' }
    const status = { madeWhen: 'moved' }
    const { rows } = derived(
      { 'POST /api/shelves/:shelfId/loans': { run: 'moveLoans', status, select: 'moved secret loan @spread', location: '/x?at={secret}' } },
      { select },
    )
    const payload = { moved: true, secret: 's', loan: { id: '7', version: 1 } }
    expect(rows[0]!.reply({ moveLoans: payload })).toEqual({
      status: 201,
      headers: { etag: '"1"', location: '/x?at=s' },
      body: { id: '7', version: 1, secret: 's' },
    })
    expect(rows[0]!.reply({ moveLoans: { ...payload, moved: false } })?.status).toBe(200)
    expect(rows[0]!.reply({ moveLoans: { ...payload, loan: null } })).toBeNull()
  })
})
