import type { Handler } from '../../http/handlers.ts'
import { anonymous } from '../../viewer.ts'
import { handle } from '../http/handle.ts'
import { serviceIdentity } from '../http/service-identity.ts'
import { receiveEvent } from '../http/stripe/receive.ts'
import type { At } from './services.ts'

/** Answers the routes that the router forwards to payments. */
export function httpOf({ foundation, settings: { addresses, signedBy }, services: { processing }, contexts, job }: At): Handler {
  const { ask, call, clock, environment } = foundation
  const receiving = { secrets: signedBy.stripe, clock, events: () => job('processor').webhookEvents, wake: processing.wake }
  const needs = {
    ...{ identity: serviceIdentity(ask, clock, environment, addresses), addresses, call, paying: () => job('payment-link') },
    receive: (received: Request) => receiveEvent(receiving, received),
  }
  return (request, viewer = anonymous) => handle({ ...needs, open: () => contexts.forRequest(viewer, request) }, request, viewer)
}
