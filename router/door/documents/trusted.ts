import type { DocumentNode } from 'graphql'
import type { Logger } from 'pino'
import { type Documents, hashOf, type Reading } from './documents.ts'
import type { Manifest } from './manifest.ts'

/** A document of the manifest, and the result of reading it. */
export interface TrustedDocument {
  readonly text: string
  readonly read: Reading
}

/** The documents that are known beforehand. */
export interface Trusted {
  /** @param id as in the manifest; a SHA-256 with or without the prefix `sha256:` */
  byId(id: string): TrustedDocument | undefined
  /** @param hash SHA-256 of the document's text in hex */
  byHash(hash: string): TrustedDocument | undefined
  /** Trusted documents that can run. */
  readonly documents: readonly DocumentNode[]
}

/**
 * Validates a manifest against the graph: documents that do not fit are logged in one line, and rejected on use. They
 * are cached apart from requests' documents, so that requests cannot displace them.
 * @param log null to log nothing
 */
export function trustedIn({ operations }: Manifest, documents: Documents, log: Pick<Logger, 'warn'> | null): Trusted {
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
    log?.warn(
      { wrong: wrong.length, of: operations.length, first: wrong.slice(0, mostTold) },
      'trusted documents are invalid for this graph and will be refused',
    )
  return {
    byId: id => byId.get(id) ?? (id.startsWith(prefix) ? byId.get(id.slice(prefix.length)) : undefined),
    byHash: hash => byHash.get(hash),
    documents: runnable,
  }
}

/** Maximum number of mistakes in one log line. */
const mostTold = 5
/** Prefix of ids that are digests, as GraphQL over HTTP writes them. */
const prefix = 'sha256:'
