import { expect, test } from 'vitest'
import { createDocuments } from '../../router/door/documents.ts'
import { smallGraph } from './graph.ts'

const documents = createDocuments(smallGraph(), { introspection: true })

// graphql-js throws here instead of telling a mistake.
test('a subscription whose root depends on a variable is refused like any other mistake', () => {
  for (const text of ['subscription ($if: Boolean!) { tick @include(if: $if) }', 'subscription ($if: Boolean!) { ... @skip(if: $if) { tick } }']) {
    const read = documents.read(text)
    expect('errors' in read && read.errors.map(error => error.extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED'])
  }
})

test('the same text is read once, and another text never for it', () => {
  const [one, again, other] = ['{ hello }', '{ hello }', '{ hello }\n'].map(text => documents.read(text))
  expect('document' in one! && 'document' in again! && one.document === again.document).toBe(true)
  expect('document' in one! && 'document' in other! && one.document === other.document).toBe(false)
})
