import { Refusal } from '../../platform/errors.ts'
import type { Viewer } from '../viewer.ts'
import { type ServiceIdentity, serviceIdentityResponse } from './service-identity/answer.ts'

/** Serves the rows that the router forwards to payments. @param viewer as whom the router sent it: asked for where another service has to be */
export async function handle(identity: (viewer: Viewer) => Promise<ServiceIdentity>, request: Request, viewer: Viewer): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/payments/api/service-identity') return serviceIdentityResponse(await identity(viewer))
  throw new Refusal('NOT_FOUND', `Payments answers nothing at ${request.method} ${pathname}.`)
}
