import { Refusal } from '../../../platform/errors.ts'
import type { Viewer } from '../../viewer.ts'
import { type ServiceIdentity, serviceIdentityResponse } from './service-identity.ts'
import { exchangeCode, loginRedirect, type SessionNeeds } from './session.ts'

/** What the rows stand on. */
export interface RowNeeds extends Omit<SessionNeeds, 'serviceId'> {
  identity(viewer: Viewer): Promise<ServiceIdentity>
}

/** Serves the rows that the router forwards to payments. @param viewer as whom the router sent it: asked for where another service has to be */
export async function handle({ identity, addresses, call }: RowNeeds, request: Request, viewer: Viewer): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/payments/api/service-identity') return serviceIdentityResponse(await identity(viewer))
  if (request.method === 'GET' && pathname === '/payments/login') return loginRedirect(addresses, request)
  if (request.method === 'POST' && pathname === '/payments/api/session')
    return exchangeCode({ addresses, call, serviceId: async () => (await identity(viewer)).serviceId }, request)
  throw new Refusal('NOT_FOUND', `Payments answers nothing at ${request.method} ${pathname}.`)
}
