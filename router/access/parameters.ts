import { DomainError } from '../../platform/errors.ts'
import { credentialHeaders, serviceHeaders } from './authenticate.ts'

/** Headers that `connection_init` may carry: credentials, and a service's headers beside its token. */
const spoken = [...credentialHeaders, ...serviceHeaders]

type Parameters = Readonly<Record<string, unknown>>

/** Maximum depth of nested objects that are searched. */
const mostLevels = 8

/**
 * Reads the credentials in the payload of `connection_init`: under the names of their headers in any case, or in an
 * object `headers`, as Apollo Sandbox and many clients send them. A value that cannot be a credential is returned as
 * one that no check accepts, so that it is rejected rather than overlooked; null and empty texts count as absent.
 * @returns an error when something looks like a credential at an unsupported place, or when two credentials differ
 */
export function credentialsIn(parameters: Parameters | undefined): ReadonlyMap<string, string> | DomainError {
  const found = new Map<string, string>()
  const read = (object: Parameters, isHeaders: boolean): DomainError | undefined => {
    for (const [name, value] of Object.entries(object)) {
      if (value === null || value === '') continue
      const header = spoken.find(each => each === name.toLowerCase())
      if (header) {
        const text = typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) ? value : 'unreadable'
        if (found.has(header) && found.get(header) !== text) return new DomainError('BAD_USER_INPUT', `connection_init names ${header} twice: send it once.`)
        found.set(header, text)
      } else if (!isHeaders && name.toLowerCase() === 'headers' && !Array.isArray(value)) {
        const refusal = isObject(value) ? read(value, true) : notUnderstood(name)
        if (refusal) return refusal
      } else {
        const hidden = credentialAt(name, value, mostLevels)
        if (hidden !== null) return notUnderstood(hidden)
      }
    }
    return undefined
  }
  return read(parameters ?? {}, false) ?? found
}

/**
 * Returns the name of a value that looks like a credential, at any depth; null when there is none. Values that nest too
 * deep are not searched, and not trusted.
 */
function credentialAt(name: string, value: unknown, levels: number): string | null {
  if (value === null || value === '') return null
  if (tells(name) || (typeof value === 'string' && hasScheme(value)) || levels === 0) return name
  if (typeof value !== 'object') return null
  for (const [inner, each] of Object.entries(value)) {
    const hidden = credentialAt(Array.isArray(value) ? name : inner, each, levels - 1)
    if (hidden !== null) return hidden
  }
  return null
}

/** Whether clients of other servers use the name for a credential. */
function tells(name: string): boolean {
  if (/^(?:auth|authentication|bearer|credentials?|cookies?|key|session)$/i.test(name)) return true
  return /(?<!csrf-?|xsrf-?)token|jwt|api[-_]?key|authori[sz]ation|secret|pass(?:word|wd|phrase)/i.test(name)
}

/** Whether a text is a credential under whatever name. */
function hasScheme(text: string): boolean {
  return /^\s*(?:bearer|basic|token)\s+\S/i.test(text)
}

/** A close reason holds 123 bytes. */
function notUnderstood(name: string): DomainError {
  const printable = name.replace(/[^\x20-\x7e]/g, '?').slice(0, 30)
  return new DomainError('UNAUTHENTICATED', `connection_init: "${printable}" is not understood, send { "Authorization": "Bearer …" }.`)
}

function isObject(value: unknown): value is Parameters {
  return typeof value === 'object' && value !== null
}
