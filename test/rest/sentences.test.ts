import { buildSchema, GraphQLError, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import type { OperationRow } from '../../router/rest/row.ts'
import { wordsOf } from '../../router/rest/words.ts'
import { person } from '../kit/viewers.ts'

describe('an error message of a route', () => {
  it('writes enum values in lower case and leaves GIF and URL as sentences write them', () => {
    const schema = buildSchema('type Query { kind: Kind } enum Kind { GIF URL SCHEDULED }')
    const row = { method: 'GET', path: '/things', operation: parse('query Things { kind }') } as unknown as OperationRow
    const error = new GraphQLError('The file is no GIF, and its URL is SCHEDULED.', { extensions: { code: 'BAD_USER_INPUT' } })
    expect(wordsOf(row, schema).refusal(error, person('someone', 'somewhere', []))).toMatchObject({ message: 'The file is no GIF, and its URL is scheduled.' })
  })
})
