import { createHash } from 'node:crypto'
import { Refusal } from '../../../platform/errors.ts'
import { isScope, type Scope } from '../../scopes.ts'
import type { Viewer } from '../../viewer.ts'
import { requireManager } from '../membership/rules.ts'

/** How many characters of a key people may see after it was made. */
const shownLength = 12

/** Makes a key's clear text of 32 random bytes: a recognisable prefix, so that scanners find one that leaked, and base64url. */
export const writeKey = (random: Buffer): string => `sgk_${random.toString('base64url')}`

/** What a key is stored and looked up under: SHA-256 of its clear text, hex. With 256 random bits no salt or slow hash is needed. */
export const hashKey = (clear: string): string => createHash('sha256').update(clear).digest('hex')

/** The part by which people recognise a key. */
export const prefixOf = (clear: string): string => clear.slice(0, shownLength)

/** @throws FORBIDDEN unless the viewer runs the organization: keys act in its name */
export const requireMayManageKeys = (viewer: Viewer): void => requireManager(viewer, 'manage its API keys')

/**
 * Checks the scopes of a new key: exact names of the catalogue, none that its creator does not have.
 * @returns them sorted, each once
 * @throws BAD_USER_INPUT for none or an unknown one, FORBIDDEN for one that the creator lacks
 */
export function readScopes(asked: readonly string[], viewer: Pick<Viewer, 'scopes'>): Scope[] {
  if (asked.length === 0) throw new Refusal('BAD_USER_INPUT', 'scopes is empty: a key without scopes could do nothing.', { field: 'scopes' })
  const unknown = asked.find(name => !isScope(name))
  if (unknown !== undefined) {
    const sentence = `scopes names "${unknown.slice(0, 80)}", which is not in the catalogue: write service:scope, such as publishing:posts.read, without wildcards.`
    throw new Refusal('BAD_USER_INPUT', sentence, { field: 'scopes' })
  }
  const lacking = asked.find(name => !viewer.scopes.includes(name))
  if (lacking !== undefined) throw new Refusal('FORBIDDEN', `You do not have ${lacking} yourself, so you cannot give it to a key.`, { field: 'scopes' })
  return [...new Set(asked.filter(isScope))].sort()
}

/** @throws BAD_USER_INPUT for a moment that is not in the future */
export function readExpiry(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt && expiresAt <= now)
    throw new Refusal('BAD_USER_INPUT', 'expiresAt lies in the past: choose a later moment, or leave it out for a key that does not expire.', {
      field: 'expiresAt',
    })
  return expiresAt
}
