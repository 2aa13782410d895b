/** A message that graphql-ws accepts, and the mistake of the operation in it. */
export interface Readable {
  readonly text: string
  /** What is wrong with the payload, to be answered under the operation's own id; null when it can be read. */
  readonly malformed: string | null
}

type Payload = Record<string, unknown>

/**
 * Prepares a subscribe message for graphql-ws, which closes the socket, and so every other stream on it, for a payload
 * without a query or with a member of another type. A missing query becomes an empty one, because a hash or an id may
 * name the document; a payload that is malformed otherwise is emptied, and its mistake is answered to that operation
 * alone. All other messages stay unchanged.
 */
export function readableSubscribe(text: string): Readable {
  if (!text.includes('subscribe')) return { text, malformed: null }
  let message: { readonly type?: unknown; readonly id?: unknown; readonly payload?: unknown } | null
  try {
    message = JSON.parse(text)
  } catch {
    return { text, malformed: null }
  }
  // A message without id cannot be answered: the protocol closes the socket with 4400.
  if (message?.type !== 'subscribe' || typeof message.id !== 'string' || message.id === '') return { text, malformed: null }
  const written = (payload: Payload, malformed: string | null) => ({ text: JSON.stringify({ id: message.id, type: 'subscribe', payload }), malformed })
  const { payload } = message
  if (!isObject(payload)) return written({ query: '' }, 'The payload of a subscribe message is a JSON object with a query, or with what names one.')
  const malformed = mistakeIn(payload)
  if (malformed !== null) return written({ query: '' }, malformed)
  return typeof payload.query === 'string' ? { text, malformed: null } : written({ ...payload, query: '' }, null)
}

function mistakeIn({ query, operationName, variables, extensions, documentId }: Payload): string | null {
  if (!isAbsent(query) && typeof query !== 'string') return 'The query of an operation is a string.'
  if (!isAbsent(operationName) && typeof operationName !== 'string') return 'The operationName of an operation is a string.'
  if (!isAbsent(variables) && !isObject(variables)) return 'The variables of an operation are a JSON object.'
  if (!isAbsent(extensions) && !isObject(extensions)) return 'The extensions of an operation are a JSON object.'
  if (isAbsent(query) && isAbsent(documentId) && !isObject((extensions as Payload | null | undefined)?.persistedQuery))
    return 'An operation needs a query, a documentId or extensions.persistedQuery: send one of them.'
  return null
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const isObject = (value: unknown): value is Payload => typeof value === 'object' && value !== null && !Array.isArray(value)
