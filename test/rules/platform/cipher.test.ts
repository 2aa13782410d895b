import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createCipher } from '../../../platform/cipher.ts'

const key = (id: string) => ({ id, key: randomBytes(32) })
const [first, second] = [key('k1'), key('k2')]
const about = 'connection:1:access'

describe('an encrypted value', () => {
  test('can be decrypted with its key and place, and differs each time', () => {
    const cipher = createCipher([first])
    const sealed = cipher.seal('a token', about)
    expect(cipher.open(sealed, about)).toBe('a token')
    expect(sealed).toMatch(/^v1\.k1\./)
    expect(sealed).not.toContain('token')
    expect(cipher.seal('a token', about)).not.toBe(sealed)
  })

  test('of a former key can be decrypted after a rotation, and new values use the new key', () => {
    const before = createCipher([first]).seal('a token', about)
    const rotated = createCipher([second, first])
    expect(rotated.open(before, about)).toBe('a token')
    const after = rotated.seal('a token', about)
    expect(after).toMatch(/^v1\.k2\./)
    expect(createCipher([second]).open(after, about)).toBe('a token')
    expect(() => createCipher([second]).open(before, about)).toThrow('sealed with key k1, which is not configured')
  })

  test('cannot be decrypted in another place, altered, truncated, or under another key of the same name', () => {
    const cipher = createCipher([first])
    const sealed = cipher.seal('a token', about)
    const parts = sealed.split('.')
    expect(() => cipher.open(sealed, 'connection:2:access')).toThrow()
    for (const at of [2, 3, 4]) {
      const bytes = Buffer.from(parts[at]!, 'base64url')
      bytes[0]! ^= 1
      expect(() => cipher.open(parts.with(at, bytes.toString('base64url')).join('.'), about)).toThrow()
      expect(() => cipher.open(parts.slice(0, at).join('.'), about)).toThrow('not a sealed value')
    }
    expect(() => cipher.open(parts.with(3, parts[3]!.slice(0, 6)).join('.'), about)).toThrow()
    expect(() => cipher.open(parts.with(0, 'v2').join('.'), about)).toThrow('not a sealed value')
    expect(() => createCipher([{ id: 'k1', key: second.key }]).open(sealed, about)).toThrow()
  })

  test('may be of the empty text', () => expect(createCipher([first]).open(createCipher([first]).seal('', about), about)).toBe(''))
})
