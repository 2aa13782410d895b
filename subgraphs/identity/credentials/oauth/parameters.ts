import { readBody } from '../../../http/body.ts'
import { fault, thrown } from './answers.ts'

/** Reads a parameter, each of which may occur once (RFC 6749 §3.1); an empty one counts as missing. */
export type Parameters = (name: string) => string | null

/**
 * Reads parameters.
 * @param given as received
 * @returns a reader by name, and the names that occurred more than once
 */
export function parametersOf(given: URLSearchParams): { readonly one: Parameters; readonly repeated: readonly string[] } {
  const names = [...given.keys()]
  return { one: name => given.get(name) || null, repeated: [...new Set(names.filter((name, at) => names.indexOf(name) !== at))] }
}

/**
 * Reads the form of a request to an endpoint for programs. @throws invalid_request for any other body, and for
 * parameters in the address
 */
export async function readForm(request: Request): Promise<Parameters> {
  const refused = (sentence: string) => thrown(fault('invalid_request', sentence))
  if (new URL(request.url).search !== '') throw refused('Send parameters in the body: addresses are logged.')
  if (!/^application\/x-www-form-urlencoded *(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw refused('The content type is not application/x-www-form-urlencoded.')
  const body = await readBody(request)
  const { one, repeated } = parametersOf(new URLSearchParams(new TextDecoder().decode(body ?? new Uint8Array())))
  if (repeated.length > 0) throw refused('A parameter came more than once.')
  return one
}
