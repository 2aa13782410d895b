import { DomainError } from '../../platform/errors.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { forAsk, sealHeader } from '../../subgraphs/seal.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { type Origin, UpstreamFailure } from '../engine/transport/exchange.ts'
import type { Seal } from '../engine/transport/seal.ts'

/** The router itself as the viewer of its own requests. */
const router: Viewer = { ...anonymous, kind: 'service', appId: 'app_router' }

/** @throws FORBIDDEN unless the router itself calls: viewers that it sealed may not read about credentials */
export function requireRouter(viewer: Viewer): void {
  if (viewer.kind !== 'service' || viewer.appId !== router.appId) throw new DomainError('FORBIDDEN', 'Only the router itself asks about credentials.')
}

export interface QuestionsOptions {
  /** Connections to the subgraph's process. */
  readonly origin: Origin
  readonly seal: Seal
  readonly slug: Slug
  /** Path at which it answers. */
  readonly path: string
}

/** Time limit of one call in milliseconds; a request waits for it. */
const timeoutMs = 3000

/**
 * Sends the router's own requests about credentials to a subgraph in another process, as JSON. It throws when the
 * process cannot be reached.
 */
export function createQuestions({ origin, seal, slug, path }: QuestionsOptions): (question: object) => Promise<unknown> {
  return async question => {
    const body = JSON.stringify(question)
    const headers = ['content-type', 'application/json', sealHeader, await seal(router, slug, forAsk('POST', path, body))]
    const asked = { path, headers, body }
    let exchange = origin.ask(asked)
    let ended = false
    const late = setTimeout(() => {
      ended = true
      exchange.cancel(new UpstreamFailure('late', `No answer within ${timeoutMs} ms`))
    }, timeoutMs)
    try {
      const { status, text } = await exchange.answer.catch(failure => {
        // A kept-alive connection may close while a request is on its way. Repeating the request is safe, because no
        // request here changes anything.
        if (ended || !(failure instanceof UpstreamFailure) || (failure.stage !== 'cut' && failure.stage !== 'unsent')) throw failure
        exchange = origin.ask(asked)
        return exchange.answer
      })
      if (status !== 200) throw new UpstreamFailure('answered', `${slug} answered ${status} to a question about credentials`)
      return JSON.parse(text, (name, value) => (name === 'expiresAt' && typeof value === 'string' ? new Date(value) : value))
    } finally {
      clearTimeout(late)
    }
  }
}
