import { Refusal } from '../../../../platform/errors.ts'
import { fieldsOf } from '../../../http/body.ts'

/** What a caller sent, by name: nothing of it is known yet. */
export type Given = Readonly<Record<string, unknown>>

/** @throws BAD_USER_INPUT that names the field */
export function wrong(field: string, sentence: string): never {
  throw new Refusal('BAD_USER_INPUT', sentence, { field })
}

export const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Refuses unknown fields, so that a caller with a misspelt name gets an error. @throws BAD_USER_INPUT */
export function requireKnown(given: Given, known: readonly string[]): void {
  const strange = Object.keys(given).find(name => !known.includes(name))
  if (strange !== undefined) wrong(strange.slice(0, 100), `${strange.slice(0, 100)} is not known here: this takes ${known.join(', ')}.`)
}

/** A text, when there is one. @throws BAD_USER_INPUT for what is none, or longer than so many characters */
export function textIn(given: Given, field: string, most: number): string | null {
  const value = given[field] ?? null
  if (value === null) return null
  if (typeof value !== 'string' || value.length < 1 || value.length > most || !value.isWellFormed())
    wrong(field, `${field} must be a text of 1 to ${most} characters.`)
  return value
}

/** A text that there must be. @throws BAD_USER_INPUT */
export const requireText = (given: Given, field: string, most: number): string =>
  textIn(given, field, most) ?? wrong(field, `${field} is missing: it is a text of 1 to ${most} characters.`)

/** One of a few words, when there is one. @throws BAD_USER_INPUT for any other */
export function wordIn<Word extends string>(given: Given, field: string, words: readonly Word[]): Word | null {
  const value = given[field] ?? null
  if (value !== null && !words.includes(value as Word)) wrong(field, `${field} must be one of ${words.join(', ')}.`)
  return value as Word | null
}

/** A whole number, when there is one. @throws BAD_USER_INPUT for one that is none, or outside of its bounds */
export function wholeIn(given: Given, field: string, least: number, most: number): number | null {
  const value = given[field] ?? null
  if (value === null) return null
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
    wrong(field, `${field} must be a whole number from ${least} to ${most}.`)
  return value as number
}

/** The model that a caller names; null for none, and for `default`: then the preference counts. @throws BAD_USER_INPUT */
export function modelIn(given: Given): string | null {
  const model = textIn(given, 'model', 200)
  return model === 'default' ? null : model
}

/** The bytes of a request's body; whoever forwards it has seen to their number. */
export const bytesOf = async (request: Request): Promise<Uint8Array> => (request.body ? await request.bytes() : new Uint8Array())

/** Reads the JSON object of a request's body. @throws BAD_USER_INPUT for anything else */
export async function readGiven(request: Request): Promise<Given> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json(?:\s*;|$)/i.test(type)) throw new Refusal('BAD_USER_INPUT', 'The content type must be application/json.')
  return fieldsOf('application/json', await bytesOf(request))
}

/** Reads what goes by other names here than on the wire: an error names it as its caller does. @param names by the wire's: `{ output_format: 'outputFormat' }` */
export function renamed<Read>(names: Readonly<Record<string, string>>, read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const field = String(error.extensions.field)
    const name = names[field]
    if (name === undefined) throw error
    throw new Refusal(error.code, error.message.replaceAll(field, name), { ...error.extensions, field: name })
  }
}
