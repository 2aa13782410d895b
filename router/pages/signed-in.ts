import type { FastifyRequest } from 'fastify'
import { parse } from 'graphql'
import { isPerson } from '../../subgraphs/viewer.ts'
import { type Authenticate, isCaller } from '../access/authenticate.ts'
import { webHeaders } from '../door/headers.ts'
import type { Engine } from '../engine/engine.ts'

/** The person whom a page greets. */
export interface SignedIn {
  /** The person's name, or their mail address where they have none. */
  readonly name: string
  /** The person's active organization; null in none. */
  readonly organization: string | null
}

const document = parse('query SignedIn { viewer { user { name email } organization { name } } }', { noLocation: true })

/** Returns the person signed in with the requesting browser; null if nobody is, or if identity is unavailable. */
export const createSignedIn =
  (authenticate: Authenticate, engine: Engine) =>
  async (request: Pick<FastifyRequest, 'headers' | 'id'>): Promise<SignedIn | null> => {
    const headers = webHeaders(request.headers)
    const caller = await authenticate(headers, { safe: true })
    if (!isCaller(caller) || !isPerson(caller.viewer)) return null
    const { data } = await engine.execute({ document, viewer: caller.viewer, requestId: request.id, headers, variables: {}, isOurs: true })
    const found = data as
      | { readonly viewer?: { user?: { name?: string; email?: string } | null; organization?: { name?: string } | null } | null }
      | null
      | undefined
    const name = found?.viewer?.user?.name || found?.viewer?.user?.email
    return name ? { name, organization: found?.viewer?.organization?.name ?? null } : null
  }
