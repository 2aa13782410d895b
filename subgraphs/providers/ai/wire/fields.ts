import { DomainError } from '../../../../platform/errors.ts'
import { fieldsOf } from '../../../http/body.ts'

/** A caller's unvalidated input, by name. */
export type Given = Readonly<Record<string, unknown>>

/** @throws BAD_USER_INPUT that names the field */
export function wrong(field: string, sentence: string): never {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

export const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Rejects unknown fields, so that a caller with a misspelt name gets an error. @throws BAD_USER_INPUT */
export function requireKnown(given: Given, known: readonly string[]): void {
  const strange = Object.keys(given).find(name => !known.includes(name))
  if (strange !== undefined) wrong(strange.slice(0, 100), `${strange.slice(0, 100)} is not known here: this takes ${known.join(', ')}.`)
}

/** Reads an optional text. @throws BAD_USER_INPUT for another type, or a text that is too long */
export function textIn(given: Given, field: string, most: number): string | null {
  const value = given[field] ?? null
  if (value === null) return null
  if (typeof value !== 'string' || value.length < 1 || value.length > most || !value.isWellFormed())
    wrong(field, `${field} must be a text of 1 to ${most} characters.`)
  return value
}

/** Reads a required text. @throws BAD_USER_INPUT */
export const requireText = (given: Given, field: string, most: number): string =>
  textIn(given, field, most) ?? wrong(field, `${field} is missing: it is a text of 1 to ${most} characters.`)

/** Reads an optional keyword. @throws BAD_USER_INPUT for any other */
export function wordIn<Word extends string>(given: Given, field: string, words: readonly Word[]): Word | null {
  const value = given[field] ?? null
  if (value !== null && !words.includes(value as Word)) wrong(field, `${field} must be one of ${words.join(', ')}.`)
  return value as Word | null
}

/** Reads an optional integer. @throws BAD_USER_INPUT for another type, or a value outside the bounds */
export function wholeIn(given: Given, field: string, least: number, most: number): number | null {
  const value = given[field] ?? null
  if (value === null) return null
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
    wrong(field, `${field} must be a whole number from ${least} to ${most}.`)
  return value as number
}

/**
 * Reads the name of a model; null for none, and for `default`: then the preferred one is used. @throws BAD_USER_INPUT
 */
export function modelIn(given: Given): string | null {
  const model = textIn(given, 'model', 200)
  return model === 'default' ? null : model
}

/** Returns the bytes of a request's body, whose size the router has limited. */
export const bytesOf = async (request: Request): Promise<Uint8Array> => (request.body ? await request.bytes() : new Uint8Array())

/** Reads the JSON object of a request's body. @throws BAD_USER_INPUT for anything else */
export async function readGiven(request: Request): Promise<Given> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json(?:\s*;|$)/i.test(type)) throw new DomainError('BAD_USER_INPUT', 'The content type must be application/json.')
  return fieldsOf('application/json', await bytesOf(request))
}

/**
 * Runs a reader with the graph's names of fields, so that errors use them. @param names by the protocol's: `{
 * output_format: 'outputFormat' }`
 */
export function renamed<Read>(names: Readonly<Record<string, string>>, read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const field = String(error.extensions.field)
    const name = names[field]
    if (name === undefined) throw error
    throw new DomainError(error.code, error.message.replaceAll(field, name), { ...error.extensions, field: name })
  }
}
