import { describe, expect, it } from 'vitest'
import { readNewPassword } from '../../../subgraphs/identity/credentials/password.ts'

describe('a new password', () => {
  it.each([
    'supergraphsupergraph',
    'Supergraph-2026',
    'supergraph-demo',
    'qwertyuiopas',
    'poiuytrewqlkj',
    'asdfghjkl1234',
    '0987654321123',
    'zxcvbnm,./as',
    'qwertyuiop[]',
    "asdfghjkl;'12",
  ])('is refused when guessers of this product try it first: %s', password => {
    expect(() => readNewPassword(password, 'password')).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', extensions: expect.objectContaining({ field: 'password' }) }),
    )
  })

  it.each(['a long enough pass phrase', 'supergraph of otters', 'qwertyuiop-otter', '7391-8264-5508'])('is taken when it is more than that: %s', password => {
    expect(readNewPassword(password, 'password')).toBe(password)
  })
})
