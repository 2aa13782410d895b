import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { codeOf, DomainError } from '../../../platform/errors.ts'
import type { Context } from '../context.ts'
import { registration } from '../registration.ts'

/** Retry time in seconds for a caller refused because of an upstream's limit, when the upstream states none. */
const usualWait = 30
/**
 * Timeout of a model call in ms: slightly longer than the gateway's own (`@patience`), so that the gateway reports why
 * the call ended.
 */
const timeoutMs = 62_000

/**
 * Calls the gateway to models as publishing, on behalf of the same person and organization. Any person who may write
 * posts may trigger model calls; the gateway decides who pays and enforces the limits.
 * @throws DomainError as the gateway states it; RATE_LIMITED has `retryAfter`
 */
export async function askModels<Data, Variables extends Record<string, unknown>>(
  { ask, viewer, leaving }: Pick<Context, 'ask' | 'viewer' | 'leaving'>,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const may = viewer.scopes.includes('providers:ai.invoke')
  const as = may ? viewer : { ...viewer, scopes: [...viewer.scopes, 'providers:ai.invoke'] }
  try {
    return await ask(document, variables, { appId: registration.appId, viewer: as, timeoutMs, signal: leaving })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'INTERNAL_SERVER_ERROR') throw error
    const { code: _, ...details } = (error as { readonly extensions: Record<string, unknown> }).extensions
    throw new DomainError(code, (error as Error).message, code === 'RATE_LIMITED' ? { ...details, retryAfter: details.retryAfter ?? usualWait } : details)
  }
}
