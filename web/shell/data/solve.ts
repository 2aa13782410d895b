/** A challenge of ALTCHA's second version, as the platform makes it. */
export interface Challenge {
  readonly parameters: {
    readonly nonce: string
    readonly salt: string
    readonly cost: number
    readonly keyLength: number
    readonly keyPrefix: string
  }
  readonly signature: string
}

/** So many keys are derived at once. */
const batch = 32

const bytesOf = (hex: string): number[] => hex.match(/../g)!.map(pair => Number.parseInt(pair, 16))
const hexOf = (bytes: ArrayBuffer): string => [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')

/** Finds the counter whose derived key begins as it must, as ALTCHA describes it. @returns what is sent as `solution` */
export async function solve({ parameters, signature }: Challenge): Promise<string> {
  const { nonce, salt, cost, keyLength, keyPrefix } = parameters
  const [begin, grains] = [bytesOf(nonce), new Uint8Array(bytesOf(salt))]
  async function derive(counter: number): Promise<string> {
    const bytes = new Uint8Array([...begin, ...[24, 16, 8, 0].map(shift => (counter >>> shift) & 255)])
    const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
    return hexOf(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: grains, iterations: cost }, key, keyLength * 8))
  }
  for (let from = 0; ; from += batch) {
    const keys = await Promise.all(Array.from({ length: batch }, (_, at) => derive(from + at)))
    const at = keys.findIndex(key => key.startsWith(keyPrefix))
    if (at >= 0) return btoa(JSON.stringify({ challenge: { parameters, signature }, solution: { counter: from + at, derivedKey: keys[at], time: 1 } }))
  }
}
