import type { Job } from '../../context.ts'
import { everyNetwork, platforms } from '../../network/networks.ts'
import { deletionStatus } from './page.ts'
import { revoked } from './received.ts'

const revocationPath = /^\/publishing\/api\/callbacks\/([a-z-]+)\/(deauthorize|data-deletion)$/
export const deletionPath = /^\/publishing\/data-deletion\/([^/]+)$/

/**
 * Handles networks' notifications that an account withdrew its permission, and the page about a deletion; null for any
 * other path.
 */
export function answerRevocation(job: Job, request: Request, path: string): Promise<Response> | null {
  const [, of, event] = revocationPath.exec(path) ?? []
  const platform = platforms.find(name => everyNetwork[name].path === of)
  if (request.method === 'POST' && platform) return revoked(job, platform, event === 'deauthorize' ? 'DEAUTHORIZE' : 'DATA_DELETION', request)
  const code = deletionPath.exec(path)?.[1]
  return request.method === 'GET' && code ? deletionStatus(job, code, request) : null
}
