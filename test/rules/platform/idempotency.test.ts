import { expect, test } from 'vitest'
import { checkSameContent, readIdempotency } from '../../../platform/idempotency.ts'
import { refusalOf } from '../refusal.ts'

const content = { text: 'Hello', brandId: '1', scheduledAt: null }
const hashOf = (input: object) => readIdempotency({ idempotencyKey: 'a', ...input })!.hash

test.each([[{}], [{ idempotencyKey: undefined }], [{ idempotencyKey: null }]])('an input with %o creates a record each time', given => {
  expect(readIdempotency({ ...content, ...given } as object)).toBeNull()
})

test('a key has 1 to 255 characters, without NUL or unpaired surrogates', () => {
  for (const idempotencyKey of ['a', ' ', 'x'.repeat(255)]) expect(readIdempotency({ idempotencyKey })!.key).toBe(idempotencyKey)
  for (const idempotencyKey of ['', 'x'.repeat(256), 'a\0b', 'a\ud800', '\udbff'])
    expect(refusalOf(() => readIdempotency({ idempotencyKey }))).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'idempotencyKey' } })
})

test('the same content has the same hash, in any order and under any key', () => {
  const entries = Object.entries(content)
  const [a, b, c] = entries as [(typeof entries)[0], (typeof entries)[0], (typeof entries)[0]]
  const hashes = [
    [a, b, c],
    [a, c, b],
    [b, a, c],
    [b, c, a],
    [c, a, b],
    [c, b, a],
  ].map(order => hashOf(Object.fromEntries(order)))
  expect(new Set(hashes).size).toBe(1)
  expect(readIdempotency({ idempotencyKey: 'another', ...content } as object)!.hash).toBe(hashes[0])
})

test('other content has another hash', () => {
  const others = [{ ...content, text: 'Hello!' }, { ...content, more: true }, { text: 'Hello' }, { ...content, text: '1', brandId: 'Hello' }, {}]
  expect(new Set([content, ...others].map(hashOf)).size).toBe(others.length + 1)
})

test('a hash is the same as in earlier versions, because it is stored', () => {
  expect(hashOf(content)).toBe('43b91709eb3123b7564b19a4cc5d0fd784f8ce733a28d65eaf82ef2df4d00fa9')
})

test('a used key is valid for the same content only', () => {
  const given = readIdempotency({ idempotencyKey: 'a', ...content } as object)!
  expect(checkSameContent(given.hash, given, 'post')).toBeUndefined()
  for (const earlier of [hashOf({ text: 'Bye' }), '', null])
    expect(refusalOf(() => checkSameContent(earlier, given, 'post'))).toMatchObject({
      code: 'CONFLICT',
      extensions: { reason: 'KEY_REUSED', field: 'idempotencyKey' },
    })
})
