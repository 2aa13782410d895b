import { nounRoutes } from '../derive/route.ts'
import type { Documented, ForwardRow, JsonSchema, Row } from '../row.ts'

const text = { type: 'string' } as const
const id = { type: 'string', format: 'uuid' } as const
const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

const form = {
  ...{ kind: 'forward', to: 'launcher', why: 'own answer', role: 'marketing', limit: 32 * 1024 },
  access: { public: 'Visitors of the marketing site ask here: a solved challenge stands for them, and calls are counted.' },
} as const satisfies Partial<ForwardRow>

const solution = { ...text, description: 'Of a challenge, base64 as ALTCHA’s widget sends it; it counts for one call.' } as const

const challenge: Documented = {
  name: 'createChallenge',
  does: 'Makes a challenge, whose solution is sent with a form within five minutes.',
  refuses: [429],
  answers: {
    200: { description: 'The challenge, as ALTCHA’s widget reads it.', schema: object({ provider: text, parameters: { type: 'object' }, signature: text }) },
  },
}
const contact: Documented = {
  name: 'submitContact',
  does: 'Takes a message or feedback of a visitor. 403 (reason `CHALLENGE_FAILED`) without the solution of a challenge, 429 above 5 an hour of a mail address.',
  body: {
    schema: object(
      {
        ...{ kind: { enum: ['contact', 'feedback'] }, name: text, email: text, message: text, topic: text, page: text, solution },
        website: { ...text, description: 'Left empty: people do not see it.' },
      },
      ['kind', 'name', 'email', 'message', 'solution'],
    ),
  },
  refuses: [403, 409, 429],
  answers: { 202: { description: 'The message has arrived.', schema: object({ id }) } },
}
const waitlist: Documented = {
  name: 'joinWaitlist',
  does: 'Puts a mail address on a waitlist. The answer is the same for an address that was on it.',
  body: { schema: object({ email: text, name: text, product: text, solution }, ['email', 'solution']) },
  refuses: [403, 409, 429],
  answers: { 202: { description: 'The address is on the waitlist.', schema: object({}) } },
}

const moment = { type: 'string', format: 'date-time' } as const
const purpose = { enum: ['demo', 'enterprise'] } as const

const slots: Documented = {
  name: 'listDemoSlots',
  does: 'Lists the free slots of demos: half hours from Monday to Friday, from a day to three weeks ahead.',
  query: { from: 'Only slots from this moment on.', to: 'Only slots up to this moment.' },
  refuses: [429],
  answers: {
    200: {
      description: 'The slots, and the time zone of their office hours.',
      schema: object({ timeZone: text, slots: { type: 'array', items: object({ startsAt: moment, endsAt: moment }) } }),
    },
  },
}
const booking: Documented = {
  name: 'bookDemo',
  does: 'Books a demo in a free slot; the visitor is mailed a link that cancels it. 409 (reason `SLOT_TAKEN`) when somebody was faster, 403 (`CHALLENGE_FAILED`) without the solution of a challenge.',
  body: {
    schema: object(
      {
        ...{ startsAt: moment, purpose, name: text, email: text, company: text, seats: { type: 'integer' }, message: text, solution },
        timeZone: { ...text, description: 'Of the visitor, for the mail.' },
      },
      ['startsAt', 'purpose', 'name', 'email', 'solution'],
    ),
  },
  refuses: [403, 409, 429],
  answers: { 201: { description: 'The demo is booked.', schema: object({ id, startsAt: moment, endsAt: moment, purpose }) } },
}
const cancelling: Documented = {
  name: 'cancelDemo',
  does: 'Cancels a demo by the code of its mail, once: 400 (reason `CODE`) for any other. The slot is free again.',
  body: { schema: object({ code: text }) },
  refuses: [429],
  answers: { 200: { description: 'The demo is cancelled.', schema: object({}) } },
}

const truth = { type: 'boolean' } as const
const choice = { enum: ['accept', 'decline', 'custom'] } as const
const purposes = object({ analytics: truth, personalization: truth, advertising: truth })
const decision = object({
  ...{ id, subjectId: id, decision: choice, analytics: truth, personalization: truth, advertising: truth, policyVersion: text, decidedAt: moment },
  syncState: { enum: ['local', 'pending', 'synced'] },
})

const deciding: Documented = {
  name: 'recordConsent',
  does: 'Takes what a browser decided about cookies, and answers what stands: a decision that is not newer changes nothing. The consent service learns it afterwards.',
  body: {
    schema: object(
      {
        subjectId: { ...id, description: 'A random id that the browser chose, and keeps.' },
        ...{ decision: choice, purposes, policyVersion: text, decidedAt: moment },
      },
      ['subjectId', 'decision', 'policyVersion', 'decidedAt'],
    ),
  },
  refuses: [429],
  answers: { 200: { description: 'What stands.', schema: decision } },
}
const decided: Documented = {
  name: 'readConsent',
  does: 'Shows what a browser last decided about cookies.',
  params: { subjectId: 'The random id of the browser.' },
  refuses: [404, 429],
  answers: { 200: { description: 'The decision.', schema: decision } },
}

const forms: readonly Row[] = [
  { ...form, method: 'GET', path: '/api/challenge', limit: 0, describes: [challenge] },
  { ...form, method: 'POST', path: '/api/contact', describes: [contact] },
  { ...form, method: 'POST', path: '/api/waitlist', describes: [waitlist] },
  { ...form, method: 'GET', path: '/api/demo-slots', limit: 0, describes: [slots] },
  { ...form, method: 'POST', path: '/api/demo-bookings', describes: [booking] },
  {
    ...{ ...form, method: 'POST', path: '/api/demo-bookings/cancel', describes: [cancelling] },
    access: { public: 'The code that was mailed to the visitor says which demo it is.' },
  },
]

const own = { public: 'A browser decides for itself, by a random id that it alone knows; calls are counted.' } as const

const consent: readonly Row[] = [
  { ...form, method: 'PUT', path: '/api/consent', access: own, describes: [deciding] },
  { ...form, method: 'GET', path: '/api/consent/:subjectId', limit: 0, access: own, describes: [decided] },
]

const admin: Documented = {
  name: 'openAdminSession',
  does: 'Exchanges the code of a platform admin’s handoff to the launcher for a token, once and without a cookie. Every attempt uses it up: 400 (reason `CODE`) for one that is used, unknown or for another service, 403 for anybody else and from a page elsewhere.',
  body: { schema: object({ code: text }) },
  refuses: [403, 429],
  answers: {
    200: { description: 'The token of the admin.', schema: object({ accessToken: text, expiresAt: moment, returnTo: { type: ['string', 'null'] } }) },
  },
}

const adminSession: Row = {
  ...{ ...form, method: 'POST', path: '/api/admin/session', to: 'identity', limit: 16 * 1024, describes: [admin] },
  access: { public: 'The code says who comes, and counts once.' },
}

const leads = nounRoutes({
  select: { Lead: 'id kind status name email company seats purpose product topic page message startsAt note createdAt version' },
  routes: { 'GET /api/leads': 'leads', 'GET /api/leads/:id': 'lead', 'PUT /api/leads/:id': 'updateLead' },
})

export const marketingRows: readonly Row[] = [...forms, ...consent, adminSession, ...leads]
