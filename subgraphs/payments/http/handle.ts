import { DomainError } from '../../../platform/errors.ts'
import type { Viewer } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { CheckoutWork } from '../engines/checkout/work.ts'
import { answerDisputeFile, disputeFilesPath } from './dispute-files.ts'
import { answerInvoicePdf, invoicePdfPath } from './invoice-pdf.ts'
import { payPage, returnPage } from './pay.ts'
import { type ServiceIdentity, serviceIdentityResponse } from './service-identity.ts'
import { exchangeCode, loginRedirect, type SessionNeeds } from './session.ts'
import { answerTransactions } from './transactions-csv.ts'

/** What the rows stand on. */
export interface RowNeeds extends Omit<SessionNeeds, 'serviceId'> {
  identity(viewer: Viewer): Promise<ServiceIdentity>
  /** Takes an event of the processor. */
  receive(request: Request): Promise<Response>
  /** What the viewer of this request may see. */
  open(): Context
  /** What payers are led with who follow a link: everybody's rows. */
  paying(): CheckoutWork
}

/** Serves the rows that the router forwards to payments. @param viewer as whom the router sent it: asked for where another service has to be */
export async function handle({ identity, addresses, call, receive, open, paying }: RowNeeds, request: Request, viewer: Viewer): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/payments/api/service-identity') return serviceIdentityResponse(await identity(viewer))
  if (request.method === 'GET' && pathname === '/payments/login') return loginRedirect(addresses, request)
  if (request.method === 'POST' && pathname === '/payments/api/session')
    return exchangeCode({ addresses, call, serviceId: async () => (await identity(viewer)).serviceId }, request)
  if (request.method === 'POST' && pathname === '/payments/api/webhooks/stripe') return receive(request)
  if (request.method === 'GET' && pathname === '/payments/api/transactions.csv') return answerTransactions(open(), request)
  const [, token, back] = /^\/payments\/pay\/([^/]+)(\/return)?$/.exec(pathname) ?? []
  if (request.method === 'GET' && token) return back ? returnPage(paying, request, token) : payPage(paying, token)
  const [, printed] = invoicePdfPath.exec(pathname) ?? []
  if (request.method === 'GET' && printed) return answerInvoicePdf(open(), printed)
  const [, disputed] = disputeFilesPath.exec(pathname) ?? []
  if (request.method === 'POST' && disputed) return answerDisputeFile(open(), request, disputed)
  throw new DomainError('NOT_FOUND', `Payments answers nothing at ${request.method} ${pathname}.`)
}
