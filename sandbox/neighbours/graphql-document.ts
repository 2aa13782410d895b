import { parse } from 'graphql'

/** Whether a text is a GraphQL document. */
export function isDocument(text: string): boolean {
  try {
    return parse(text).definitions.length > 0
  } catch {
    return false
  }
}
