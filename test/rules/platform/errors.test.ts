import { expect, test } from 'vitest'
import { codeOf, DomainError, type ErrorCode, isErrorCode, NotReady, statusOf } from '../../../platform/errors.ts'

test.each<[code: ErrorCode, status: number]>([
  ['BAD_USER_INPUT', 400],
  ['OPERATION_TOO_EXPENSIVE', 400],
  ['UNAUTHENTICATED', 401],
  ['BUDGET_EXCEEDED', 402],
  ['FORBIDDEN', 403],
  ['NOT_FOUND', 404],
  ['CONFLICT', 409],
  ['RATE_LIMITED', 429],
  ['INTERNAL_SERVER_ERROR', 500],
  ['UPSTREAM_FAILED', 502],
])('%s is answered with %i by REST, and is read from whatever carries it', (code, status) => {
  expect(statusOf[code]).toBe(status)
  expect(isErrorCode(code)).toBe(true)
  expect(codeOf(new DomainError(code, 'no'))).toBe(code)
  expect(codeOf({ message: 'no', extensions: { code } })).toBe(code)
})

test.each([
  ['no code of ours', 'TEAPOT'],
  ['a word that every object knows', 'toString'],
  ['no text', 404],
  ['a list that would be written as a code', ['CONFLICT']],
  ['nothing', undefined],
  ['null', null],
])('%s is no code, and an error with it is one of ours', (_what, code) => {
  expect(isErrorCode(code)).toBe(false)
  expect(codeOf({ extensions: { code } })).toBe('INTERNAL_SERVER_ERROR')
})

test.each([
  [undefined],
  [null],
  ['CONFLICT'],
  [new Error('no')],
  [{}],
  [{ extensions: undefined }],
  [{ extensions: null }],
  [{ code: 'CONFLICT' }],
])('whatever else is thrown, as %o, counts as an error of ours', thrown => expect(codeOf(thrown)).toBe('INTERNAL_SERVER_ERROR'))

test('a refusal carries its sentence, its code, and facts for programs, which cannot change the code', () => {
  const refusal = new DomainError('RATE_LIMITED', 'Wait.', { retryAfter: 30, code: 'FORBIDDEN' })
  expect(refusal).toBeInstanceOf(Error)
  expect(refusal).toMatchObject({ name: 'DomainError', message: 'Wait.', code: 'RATE_LIMITED' })
  expect(refusal.extensions).toEqual({ code: 'RATE_LIMITED', retryAfter: 30 })
  expect(new DomainError('FORBIDDEN', 'No.').extensions).toEqual({ code: 'FORBIDDEN' })
})

test('NotReady errors are recognized by name: readiness shows no other message', () => {
  expect(new NotReady('the queue is late')).toMatchObject({ name: 'NotReady', message: 'the queue is late' })
})
