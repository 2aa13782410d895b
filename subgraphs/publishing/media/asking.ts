import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { codeOf, Refusal } from '../../../platform/errors.ts'
import type { Context } from '../context.ts'
import { registration } from '../registration.ts'

/** What somebody who is refused because of an upstream's limit waits for, in seconds, where that does not say. */
const usualWait = 30
/** How long a model is waited for, in ms: a moment longer than its operation has (`@patience`), so that this one says why it ended. */
const patienceMs = 62_000

/**
 * Asks the gateway to models, as publishing, for the same person and organization. Who may write posts may have models called for them: on whose
 * account that is and how much of it there may be, the gateway knows.
 * @throws Refusal as the gateway says; RATE_LIMITED has `retryAfter`
 */
export async function askModels<Data, Variables extends Record<string, unknown>>(
  { ask, viewer, leaving }: Pick<Context, 'ask' | 'viewer' | 'leaving'>,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const may = viewer.scopes.includes('providers:ai.invoke')
  const as = may ? viewer : { ...viewer, scopes: [...viewer.scopes, 'providers:ai.invoke'] }
  try {
    return await ask(document, variables, { appId: registration.appId, viewer: as, patienceMs, signal: leaving })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'INTERNAL_SERVER_ERROR') throw error
    const { code: _, ...details } = (error as { readonly extensions: Record<string, unknown> }).extensions
    throw new Refusal(code, (error as Error).message, code === 'RATE_LIMITED' ? { ...details, retryAfter: details.retryAfter ?? usualWait } : details)
  }
}
