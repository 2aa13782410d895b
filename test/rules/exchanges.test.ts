import { describe, expect, it } from 'vitest'
import { joinHandlers } from '../../subgraphs/http/handlers.ts'

const answer = async () => new Response()

describe('joinExchanges', () => {
  it('combines the handlers of different nouns', () => {
    expect(joinHandlers({ email: { 'POST /a': answer }, ai: { 'POST /b': answer, 'GET /b': answer } })).toEqual({
      'POST /a': answer,
      'POST /b': answer,
      'GET /b': answer,
    })
  })

  it('throws with both names when two nouns answer the same method and path', () => {
    expect(() => joinHandlers({ email: { 'POST /a': answer }, ai: { 'POST /a': answer } })).toThrow('POST /a is answered by two nouns, email and ai: keep one')
  })
})
