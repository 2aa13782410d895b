import { expect } from 'vitest'
import type { Exchanges } from './exchange.ts'

const api = '/launcher/api'
const billing = `${api}/billing`
const back = { returnTo: '/settings' }
const opened = { id: expect.any(String), url: expect.stringContaining('/checkout/') }

/** Bundles, verifications and seats, in the order in which somebody buys, claims and looks after one. */
export const commerce: Exchanges = world => {
  const seat = async () => world().owner.userId!
  return {
    [`GET ${api}/entitlements`]: {
      path: () => `${api}/entitlements`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { plan: 'none', platformApps: { limit: 0 }, storeApps: { limit: null } } }),
    },
    [`POST ${billing}/checkout`]: {
      path: () => `${billing}/checkout`,
      body: () => ({ package: 'five', interval: 'year', seats: 4, ...back }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: opened }),
    },
    [`POST ${billing}/free-workspace`]: {
      path: () => `${billing}/free-workspace`,
      body: () => back,
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: opened }),
    },
    [`POST ${billing}/preview`]: {
      path: () => `${billing}/preview`,
      body: () => ({ package: 'five', seats: 3 }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { recurring: { amountMinor: 6600, currency: 'USD' } } }),
    },
    [`GET ${billing}/verifications`]: {
      path: () => `${billing}/verifications`,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { verifications: [] } }),
    },
    [`GET ${billing}/claimable`]: {
      path: () => `${billing}/claimable`,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { subscriptions: [expect.objectContaining({ ownerType: 'lead' })] } }),
    },
    [`POST ${billing}/claim`]: {
      path: () => `${billing}/claim`,
      body: () => ({ id: world().bundleId }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { id: world().bundleId, ownerType: 'organization' } }),
    },
    [`GET ${billing}/verifications/claimable`]: {
      path: () => `${billing}/verifications/claimable`,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { verifications: [expect.objectContaining({ id: world().verificationId, ownerType: 'lead' })] } }),
    },
    [`POST ${billing}/verifications/claim`]: {
      path: () => `${billing}/verifications/claim`,
      body: () => ({ id: world().verificationId }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { id: world().verificationId, ownerType: 'organization' } }),
    },
    [`GET ${billing}/subscriptions`]: {
      path: () => `${billing}/subscriptions`,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { subscriptions: [expect.objectContaining({ package: 'everything', status: 'active', seats: 50 })] } }),
    },
    [`POST ${billing}/portal`]: {
      path: () => `${billing}/portal`,
      body: () => back,
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { url: expect.stringContaining('/portal/') } }),
    },
    [`PUT ${billing}/seats`]: {
      path: () => `${billing}/seats`,
      body: () => ({ quantity: 60 }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { seats: 60 } }),
    },
    [`PUT ${billing}/seats/:userId`]: {
      path: id => `${billing}/seats/${id}`,
      make: seat,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { userId: id, kind: 'human' } }),
    },
    [`GET ${billing}/seats`]: {
      path: () => `${billing}/seats`,
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { seats: expect.arrayContaining([expect.objectContaining({ kind: 'human' })]) } }),
    },
    [`DELETE ${billing}/seats/:userId`]: {
      path: id => `${billing}/seats/${id}`,
      make: seat,
      forbidden: 'viewer',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`POST ${api}/internal/seats/reconcile`]: {
      path: () => `${api}/internal/seats/reconcile`,
      body: () => ({ organizationId: world().organizationId }),
      forbidden: 'owner',
      by: 'launcher',
      answers: () => ({ status: 200, json: { organizations: 1 } }),
    },
  }
}
