import { nounRoutes } from '../derive/route.ts'
import type { Documented, ForwardRow, JsonSchema, Row } from '../row.ts'

const money = '{ amountMinor currency }'
const subscription = `
  id ownerType ownerId package interval status seats amount ${money} currentPeriodEnd cancelAtPeriodEnd processorSubscriptionId
  createdAt endedAt version`

const operations = nounRoutes({
  select: {
    Entitlements: 'plan platformApps { limit used } storeApps { limit used } seats { total used } validUntil',
    BillingSubscription: subscription,
    WorkspaceVerification: `id ownerType ownerId status amount ${money} currentPeriodEnd verifiedAt processorSubscriptionId`,
    BillingCheckout: 'id url expiresAt',
    BillingPreview: `dueNow ${money} recurring ${money} lines { description quantity amount ${money} }`,
    BillingPortal: 'url',
    Seat: 'id kind userId: user { id } assignedAt',
    SeatReconciliation: 'organizations released assigned corrected',
  },
  routes: {
    'GET /api/entitlements': 'entitlements',
    'GET /api/billing/subscriptions': 'billingSubscriptions',
    'GET /api/billing/verifications': 'workspaceVerifications',
    'GET /api/billing/claimable': { run: 'claimableSubscriptions', list: 'subscriptions' },
    'GET /api/billing/verifications/claimable': { run: 'claimableVerifications', list: 'verifications' },
    'POST /api/billing/verifications/claim': 'claimWorkspaceVerification',
    'POST /api/billing/checkout': { run: 'createBundleCheckout', location: null, noStore: true },
    'POST /api/billing/free-workspace': { run: 'createFreeWorkspaceCheckout', location: null, noStore: true },
    'POST /api/billing/portal': { run: 'createBillingPortal', location: null, noStore: true, also: 'marketing' },
    'POST /api/billing/claim': 'claimBillingSubscription',
    'POST /api/billing/preview': { run: 'billingPreview', status: 200, also: 'marketing' },
    'GET /api/billing/seats': 'seats',
    'PUT /api/billing/seats': 'changeSeats',
    'PUT /api/billing/seats/:userId': { run: 'assignSeat', mayBeEmpty: true },
    'DELETE /api/billing/seats/:userId': 'releaseSeat',
    'POST /api/internal/seats/reconcile': { run: 'reconcileSeats', policy: 'service', mayBeEmpty: true, also: 'marketing' },
  },
})

const text = { type: 'string' } as const
const whole = { type: 'integer' } as const
const moment = { type: 'string', format: 'date-time' } as const
const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const price = object({ amountMinor: whole, currency: text })
const packages = ['three', 'five', 'ten', 'everything'] as const

const forward = { kind: 'forward', to: 'launcher', role: 'marketing' } as const satisfies Partial<ForwardRow>

const plans: Documented = {
  name: 'listBillingPlans',
  does: 'Lists the bundles with the price of a seat, the smallest first.',
  answers: {
    200: {
      description: 'The bundles; `apps` is null where there is no limit.',
      schema: object({
        plans: { type: 'array', items: object({ package: { enum: packages }, apps: { type: ['integer', 'null'] }, monthly: price, yearly: price }) },
      }),
    },
  },
}
const checkout: Documented = {
  name: 'openPublicCheckout',
  does: 'Opens a page of the payment processor for somebody without an account. What is paid there waits for whoever verifies the mail address. 403 (reason `CHALLENGE_FAILED`) without the solution of a challenge.',
  body: {
    schema: object(
      {
        ...{ package: { enum: [...packages, 'free_workspace'] }, interval: { enum: ['month', 'year'] }, seats: whole, email: text },
        solution: { ...text, description: 'Of a challenge, base64 as ALTCHA’s widget sends it; it counts for one call.' },
      },
      ['package', 'email', 'solution'],
    ),
  },
  refuses: [403, 409, 429],
  answers: { 201: { description: 'The page.', schema: object({ url: text, expiresAt: moment }) } },
}
const event: Documented = {
  name: 'receiveSubscriptionEvent',
  does: 'Takes an event of the payment processor about bundles, signed by `Stripe-Signature` with any of the configured secrets. It is stored before the answer and applied within seconds; the same event again has no effect. 400 for a signature that is missing, wrong, or more than five minutes away.',
  body: {
    schema: object({ id: text, type: text, created: whole, livemode: { type: 'boolean' }, data: { type: 'object' } }, ['id', 'type', 'created', 'data']),
  },
  answers: { 200: { description: 'It is stored.', schema: object({ received: { type: 'boolean' }, duplicate: { type: 'boolean' } }) } },
}

const rows: readonly Row[] = [
  {
    ...{ ...forward, method: 'GET', path: '/api/plans', limit: 0, why: 'own answer', describes: [plans] },
    access: { public: 'Prices are public.' },
  },
  {
    ...{ ...forward, method: 'POST', path: '/api/checkout', limit: 32 * 1024, why: 'own answer', describes: [checkout] },
    access: { public: 'Visitors buy before they have an account: a solved challenge stands for them, and calls are counted.' },
  },
  {
    ...{ ...forward, method: 'POST', path: '/api/webhooks/subscriptions', limit: 256 * 1024, why: 'raw body', describes: [event] },
    access: { public: 'The payment processor sends its events here; its signature authenticates it.' },
  },
]

export const commerceRows: readonly Row[] = [...operations, ...rows]
