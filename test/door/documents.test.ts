import { buildSchema } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { limits } from '../../router/door/limits.ts'
import { smallGraph } from './graph.ts'

const documents = createDocuments(smallGraph(), { introspection: true })

// graphql-js throws here instead of reporting an error.
test('rejects a subscription whose root depends on a variable like any other mistake', () => {
  for (const text of ['subscription ($if: Boolean!) { tick @include(if: $if) }', 'subscription ($if: Boolean!) { ... @skip(if: $if) { tick } }']) {
    const read = documents.read(text)
    expect('errors' in read && read.errors.map(error => error.extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED'])
  }
})

test('refuses an operation of a kind that the schema does not have', () => {
  const queries = createDocuments(buildSchema('type Query { hello: String }'), { introspection: true })
  for (const kind of ['subscription', 'mutation']) {
    const read = queries.read(`${kind} { hello }`)
    expect('errors' in read && read.errors.map(({ message, extensions }) => [message, extensions.code])).toEqual([
      [`Schema is not configured to execute ${kind} operation.`, 'GRAPHQL_VALIDATION_FAILED'],
    ])
  }
  expect('document' in queries.read('{ hello }')).toBe(true)
})

test('parses the same text once, and never returns the document of another text', () => {
  const [one, again, other] = ['{ hello }', '{ hello }', '{ hello }\n'].map(text => documents.read(text))
  expect('document' in one! && 'document' in again! && one.document === again.document).toBe(true)
  expect('document' in one! && 'document' in other! && one.document === other.document).toBe(false)
})

test('a cached document has no source locations, which take more memory than it; the errors of a text have them', () => {
  const [kept, wrong] = ['{ hello } # kept', '{ nothing }'].map(text => documents.read(text))
  expect('document' in kept! && [kept.document.loc, kept.document.definitions[0]!.loc]).toEqual([undefined, undefined])
  expect('errors' in wrong! && wrong.errors[0]!.locations).toEqual([{ line: 1, column: 3 }])
})

test('reports twenty of many mistakes, and that there are more', () => {
  const read = documents.read(`{ ${Array.from({ length: 90 }, (_, number) => `nothing${number}`).join(' ')} }`)
  expect('errors' in read && read.errors.length).toBe(21)
})

test('suggests no names of the schema in errors where introspection is off', () => {
  const closed = createDocuments(smallGraph(), { introspection: false })
  const [open, shut] = [documents, closed].map(each => each.read('{ helo }'))
  expect('errors' in open! && open.errors[0]!.message).toContain('Did you mean')
  expect('errors' in shut! && shut.errors[0]!.message).not.toContain('Did you mean')
})

describe('S-10 each limit has an error of its own that names it, and a document just within the limit passes', () => {
  const again = (depth: number) => `{ viewer { ${'again { '.repeat(depth - 2)} kind ${'}'.repeat(depth - 2)} } }`
  const times = (count: number, text: (number: number) => string) => `{ ${Array.from({ length: count }, (_, number) => text(number)).join(' ')} }`
  // Ten fields each.
  const widest = times(limits.aliases, n => `a${n}: viewer { kind userId organizationId roles scopes again { kind userId organizationId } }`)
  test.each([
    ['depth', again(limits.depth), again(limits.depth + 1)],
    ['aliases', times(limits.aliases, n => `a${n}: hello`), times(limits.aliases + 1, n => `a${n}: hello`)],
    ['fields', widest, widest.replace('{', '{ hello')],
    ['tokens', widest, times(limits.tokens + 1, () => 'hello')],
  ] as const)('%s', (limit, within, beyond) => {
    expect('document' in documents.read(within)).toBe(true)
    const read = documents.read(beyond)
    const [error] = 'errors' in read ? read.errors : []
    expect(error!.extensions).toEqual({ code: 'BAD_USER_INPUT', limit, most: limits[limit] })
    expect(error!.message).toMatch(new RegExp(`more than ${limits[limit]}|deeper than ${limits[limit]}`))
    expect(error!.message).toMatch(/: (?:ask for less|split it)/)
  })
})
