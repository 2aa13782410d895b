import type { Answer } from '../engine/supergraph-fixture.ts'

/**
 * What an answer tells, so that two can be compared: its text with the order of keys, and its errors by place. An error counts
 * for the place that it made null: of several below one null any may be told (GraphQL, section 6.4.4).
 */
export interface Comparable {
  readonly text: string
  /** Path of the null, and what was said when the error stands right there. */
  readonly errors: readonly string[]
}

/**
 * @param whole what one schema answered: a reference to an entity that is gone may be null without a word there, which depends
 *   on what else the subgraphs have of it, and one schema cannot know
 */
export function comparable(answer: Answer, whole: Answer = answer): Comparable {
  const errors = new Set((answer.errors ?? []).map(error => placeOf(answer.data, error.path ?? [])))
  for (const { message, path = [] } of whole.errors ?? []) {
    const place = placeOf(whole.data, path)
    if (message === goneEntity && place === path.slice(0, -1).join('.')) errors.delete(place)
  }
  return { text: answer.text, errors: [...errors].sort() }
}

/** What one schema says where a field must not be null and the object is a reference to an entity that is gone. */
export const goneEntity = 'The entity is gone.'

function placeOf(data: unknown, path: readonly (string | number)[]): string {
  let value = data
  const place: (string | number)[] = []
  for (const segment of path) {
    if (value === null || value === undefined) break
    place.push(segment)
    value = (value as Record<string | number, unknown>)[segment]
  }
  return place.join('.')
}

/** Sentences that resolvers said on purpose, by full path, for errors that nothing else hides. */
export function sentences(answer: Answer): readonly string[] {
  const said = (answer.errors ?? [])
    .filter(error => error.extensions?.code !== undefined && error.extensions.code !== 'INTERNAL_SERVER_ERROR')
    .filter(error => placeOf(answer.data, error.path ?? []) === (error.path ?? []).join('.'))
  return [...new Set(said.map(error => `${(error.path ?? []).join('.')}: ${error.message}`))].sort()
}
