import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** Encrypts secrets that a database dump must not reveal. */
export interface Cipher {
  /**
   * Encrypts text with the newest key.
   * @param about binds the ciphertext to its record (e.g. `connection:<id>:access`): copied to another row it cannot be
   * decrypted
   */
  seal(text: string, about: string): string
  /** Decrypts the result of `seal` with any known key; throws when it was altered, moved, or its key is unknown. */
  open(sealed: string, about: string): string
  /**
   * Signs a public text with the newest key: 43 characters that are valid in an address.
   * @param about purpose of the signature: it is invalid for any other
   */
  sign(text: string, about: string): string
  /** Whether `sign` created a signature of this text, with any known key. */
  isSigned(signature: string, text: string, about: string): boolean
}

/**
 * Returns the hash under which a secret is stored and looked up when its text is not needed again: SHA-256, hex. For
 * 256 random bits a plain hash reveals nothing, so it needs neither salt nor a slow function; passwords do.
 */
export const hashOfSecret = (clear: string): string => createHash('sha256').update(clear).digest('hex')

/** A key of 32 bytes, and the short name stored with its ciphertexts. */
export interface CipherKey {
  readonly id: string
  readonly key: Buffer
}

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D); the format is `v1.<key id>.<nonce>.<tag>.<ciphertext>`, base64url parts.
 */
export function createCipher(keys: readonly [CipherKey, ...CipherKey[]]): Cipher {
  const byId = new Map(keys.map(entry => [entry.id, entry.key]))
  // Each purpose has a key of its own (NIST SP 800-57 §5.2).
  const signing = keys.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'signatures', 32)))
  const signatureOf = (key: Buffer, text: string, about: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([about, text]))
      .digest()
  return {
    seal(text, about) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keys[0].key, nonce)
      cipher.setAAD(Buffer.from(about))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return ['v1', keys[0].id, nonce.toString('base64url'), cipher.getAuthTag().toString('base64url'), body.toString('base64url')].join('.')
    },
    open(sealed, about) {
      const [version, id, nonce, tag, body] = sealed.split('.')
      const key = id === undefined ? undefined : byId.get(id)
      if (version !== 'v1' || !nonce || !tag || body === undefined) throw new Error('not a sealed value')
      if (!key) throw new Error(`sealed with key ${id}, which is not configured`)
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(about))
      decipher.setAuthTag(Buffer.from(tag, 'base64url'))
      return Buffer.concat([decipher.update(Buffer.from(body, 'base64url')), decipher.final()]).toString('utf8')
    },
    sign: (text, about) => signatureOf(signing[0]!, text, about).toString('base64url'),
    isSigned(signature, text, about) {
      if (!/^[\w-]{43}$/.test(signature)) return false
      const given = Buffer.from(signature, 'base64url')
      // Each signature has exactly one spelling: base64url would ignore two bits of the last character.
      if (given.toString('base64url') !== signature) return false
      return signing.some(key => timingSafeEqual(signatureOf(key, text, about), given))
    },
  }
}
