import { z } from 'zod'

/** One operation that clients may request, with its fragments. */
export interface ListedOperation {
  readonly id: string
  readonly name: string
  readonly type: 'query' | 'mutation' | 'subscription'
  readonly body: string
}

/** Operations of clients in the format of Apollo's tools: a persisted query manifest, version 1. */
export interface Manifest {
  readonly format: 'apollo-persisted-query-manifest'
  readonly version: 1
  readonly operations: readonly ListedOperation[]
}

const form = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(
    z.object({ id: z.string().min(1).max(500), name: z.string(), type: z.enum(['query', 'mutation', 'subscription']), body: z.string().min(1) }),
  ),
})

/**
 * Reads a manifest.
 * @throws Error with a message that says what is wrong with it
 */
export function readManifest(text: string): Manifest {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  const read = form.safeParse(json)
  if (!read.success) {
    const [{ path, message }] = read.error.issues as [z.core.$ZodIssue]
    throw new Error(`it is no persisted query manifest, version 1 (${path.length > 0 ? `${path.join('.')}: ` : ''}${message})`)
  }
  const texts = new Map<string, string>()
  for (const { id, name, body } of read.data.operations) {
    if ((texts.get(id) ?? body) !== body) throw new Error(`it has two operations of the id ${id}, one of which is ${name}`)
    texts.set(id, body)
  }
  return read.data
}
