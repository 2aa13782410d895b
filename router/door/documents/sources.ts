import { type DocumentNode, GraphQLError, Kind } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { type Documents, hashOf } from './documents.ts'
import type { Manifest } from './manifest.ts'
import { createRegistered, type Registered, type Registrant } from './registered.ts'
import { type Trusted, trustedIn } from './trusted.ts'

/** How a request names its document, as the client sent it. */
export interface Naming {
  readonly query?: unknown
  /** Id of a trusted document. */
  readonly documentId?: unknown
  /** `persistedQuery { version: 1, sha256Hash }` names a document, or registers the text sent with it. */
  readonly extensions?: unknown
}

/**
 * The document of a request, or the errors why there is none, with an HTTP status where the error always has the same.
 */
export type Found =
  | { readonly text: string; readonly document: DocumentNode }
  | { readonly errors: readonly GraphQLError[]; readonly status?: 200 | 400 | undefined }

/** Finds the document of a request by its text, id or hash; all protocols use it. */
export interface Sources {
  /** Returns null when the request names no document; a promise where other processes are asked or notified. */
  find(naming: Naming, caller: Registrant): Found | null | Promise<Found>
  /** Replaces the list of trusted documents. @returns those that can run */
  trust(manifest: Manifest): readonly DocumentNode[]
  /** Validates the trusted documents against a new graph. @returns those that can run */
  readAgain(): readonly DocumentNode[]
}

/** How untrusted documents are treated: allowed, allowed and logged, or rejected. */
export type Trust = 'off' | 'log' | 'only'

export interface SourceOptions {
  /** @default off */
  readonly mode?: Trust | undefined
  /** @default a store of its own */
  readonly registered?: Registered | undefined
  /** Whether invalid trusted documents are not logged. @default they are */
  readonly isQuiet?: boolean | undefined
  readonly log: Pick<Logger, 'warn'>
}

/** Maximum number of logged documents that are remembered. */
const mostLogged = 10_000

export function createSources(documents: Documents, { mode = 'off', registered = createRegistered(), isQuiet = false, log }: SourceOptions): Sources {
  const trustedLog = isQuiet ? null : log
  const logged = new LRUCache<string, true>({ max: mostLogged })
  let trusted: Trusted | null = null
  let listed: Manifest | null = null

  /** Finds a trusted document by its id. */
  const byId = (id: string): Found | undefined => {
    const known = trusted?.byId(id)
    return known && ('document' in known.read ? { text: known.text, document: known.read.document } : known.read)
  }
  const byText = (text: string, hash = hashOf(text)): Found => {
    const known = trusted?.byHash(hash)
    if (!known && mode === 'only') return required()
    const read = known?.read ?? documents.read(text, hash)
    if ('errors' in read) return read
    if (!known && mode === 'log' && !logged.has(hash)) {
      logged.set(hash, true)
      log.warn({ sha256: hash, operations: namesIn(read.document) }, 'untrusted document executed')
    }
    return { text, document: read.document }
  }

  const ofRegistered = (text: string | undefined, hash: string): Found => {
    if (text !== undefined) return byText(text, hash)
    return mode === 'only' ? required() : notFound()
  }

  return {
    readAgain() {
      trusted = listed && trustedIn(listed, documents, trustedLog)
      return trusted?.documents ?? []
    },
    trust(manifest) {
      listed = manifest
      trusted = trustedIn(manifest, documents, trustedLog)
      return trusted.documents
    },
    find({ query, documentId, extensions }, caller) {
      const text = typeof query === 'string' && query !== '' ? query : null
      const persisted = (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery
      if (documentId !== undefined && documentId !== null) {
        if (typeof documentId !== 'string') return malformed('documentId is a text: the id of a trusted document.')
        if (text !== null) return malformed('A request brings a query or a documentId, and not both: leave one out.')
        return byId(documentId) ?? (mode === 'only' ? required() : trusted ? notFound() : notSupported())
      }
      if (!persisted) return text === null ? null : byText(text)
      const { version, sha256Hash } = persisted as { version?: unknown; sha256Hash?: unknown }
      if (version !== 1) return malformed('The version of a persisted query is 1: no other is known here.')
      const known = typeof sha256Hash === 'string' ? byId(sha256Hash) : undefined
      if (known && (text === null || !('text' in known) || known.text === text)) return known
      if (typeof sha256Hash !== 'string' || !/^[0-9a-f]{64}$/.test(sha256Hash))
        return malformed('persistedQuery.sha256Hash is not a SHA-256 in hex (64 digits and small letters a to f), and no trusted document has it for its id.')
      if (text !== null && hashOf(text) !== sha256Hash) return malformed('persistedQuery.sha256Hash is not the SHA-256 of the query that came with it.')
      if (text !== null) {
        const found = byText(text, sha256Hash)
        // Only valid documents are stored, so that invalid ones cannot displace others.
        const taken = 'document' in found && mode !== 'only' ? registered.keep(sha256Hash, text, caller) : undefined
        return taken ? taken.then(() => found) : found
      }
      const meant = trusted?.byHash(sha256Hash)?.text ?? (mode === 'only' ? undefined : registered.find(sha256Hash, caller))
      return meant instanceof Promise ? meant.then(each => ofRegistered(each, sha256Hash)) : ofRegistered(meant, sha256Hash)
    },
  }
}

const coded = (code: string, sentence: string) => [new GraphQLError(sentence, { extensions: { code } })]
const malformed = (sentence: string): Found => ({ status: 400, errors: coded('BAD_REQUEST', sentence) })
// Apollo clients recognize this error by its message too.
const notFound = (): Found => ({ status: 200, errors: coded('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound') })
const notSupported = (): Found => ({
  status: 200,
  errors: coded('PERSISTED_QUERY_NOT_SUPPORTED', 'No documents are trusted here (TRUSTED_DOCUMENTS_FILE): send the query.'),
})
const required = (): Found => ({
  errors: coded('PERSISTED_QUERY_REQUIRED', 'Only registered documents are executed here: have yours added to the list, and send its id.'),
})

/** Names of a document's operations, as many as fit into a log line. */
const namesIn = ({ definitions }: DocumentNode): readonly string[] =>
  definitions.flatMap(each => (each.kind === Kind.OPERATION_DEFINITION ? [each.name?.value.slice(0, 100) ?? 'anonymous'] : [])).slice(0, 10)
