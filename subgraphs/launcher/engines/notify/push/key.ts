import { createECDH } from 'node:crypto'

/** Returns the public key of a private one: an uncompressed point. */
export const publicOf = (secret: string): Buffer => {
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(secret, 'base64url')
  return curve.getPublicKey()
}

/** Whether a text is a private key of P-256. */
export function isVapidKey(text: string): boolean {
  try {
    return Buffer.from(text, 'base64url').length === 32 && publicOf(text).length === 65
  } catch {
    return false
  }
}

/** Makes a private key. */
export function newVapidKey(): string {
  const curve = createECDH('prime256v1')
  curve.generateKeys()
  // The number may begin with zeros, which the curve leaves out.
  return Buffer.from(curve.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')
}
