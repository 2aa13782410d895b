import type { DocumentNode } from 'graphql'
import type { Logger } from 'pino'
import { type Documents, hashOf, type Reading } from './documents.ts'
import type { Manifest } from './manifest.ts'

/** A document that the platform was told of beforehand, and what came of reading it. */
export interface TrustedDocument {
  readonly text: string
  readonly read: Reading
}

/** The documents that are known beforehand. */
export interface Trusted {
  /** @param id as the manifest has it; a SHA-256 with or without `sha256:` before it */
  byId(id: string): TrustedDocument | undefined
  /** @param hash SHA-256 of its text in hex */
  byHash(hash: string): TrustedDocument | undefined
  /** Those that can be run. */
  readonly documents: readonly DocumentNode[]
}

/**
 * Validates a manifest against the graph: documents that do not fit are logged in one line, and refused on use.
 * They are kept apart from the documents of requests, so that nobody pushes them out.
 */
export function trustedIn({ operations }: Manifest, documents: Documents, log: Pick<Logger, 'warn'>): Trusted {
  const [byId, byHash] = [new Map<string, TrustedDocument>(), new Map<string, TrustedDocument>()]
  const runnable: DocumentNode[] = []
  const wrong: string[] = []
  for (const { id, name, body } of operations) {
    const hash = hashOf(body)
    let known = byHash.get(hash)
    if (!known) {
      const read = documents.read(body, hash)
      known = { text: body, read }
      byHash.set(hash, known)
      if ('document' in read) runnable.push(read.document)
      else wrong.push(`${name}: ${read.errors[0]!.message}`)
    }
    byId.set(id, known)
  }
  if (wrong.length > 0)
    log.warn(
      { wrong: wrong.length, of: operations.length, first: wrong.slice(0, mostTold) },
      'trusted documents are invalid for this graph and will be refused',
    )
  return {
    byId: id => byId.get(id) ?? (id.startsWith(prefix) ? byId.get(id.slice(prefix.length)) : undefined),
    byHash: hash => byHash.get(hash),
    documents: runnable,
  }
}

/** How many mistakes one line of the log tells. */
const mostTold = 5
/** As GraphQL over HTTP writes ids that are digests. */
const prefix = 'sha256:'
