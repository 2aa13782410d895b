import { randomUUID } from 'node:crypto'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import { newId } from '../../../../platform/ids.ts'
import { slotsWithin } from '../../../../subgraphs/launcher/marketing/demo/slots.ts'
import { type AccessRows, all, change, constant, everybody, type Fresh, publicRoute, row, services, unrelated } from '../../../access/row.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { solve } from '../../agents/chat/visitor.ts'

/** Nobody of the columns administers the platform: `lead.test.ts` says what its admins may do. */
const nobodyHere = services
// Whoever asks has solved no challenge.
const unsolved = everybody.replaceAll('yes', 'denied')

/** Forgets what callers have used up: each cell calls from one address. */
const uncounted: Fresh = async ({ graph }) => {
  await graph.rows('delete from launcher.rates')
  return ''
}

const freshSolution: Fresh = async stage => {
  await uncounted(stage)
  return solve(await stage.graph.platform.launcher.at.services.visitors.challenge())
}

/** The beginning of a free slot. */
const freshSlot: Fresh = async stage => {
  await uncounted(stage)
  const now = stage.graph.clock.now()
  return slotsWithin('UTC', { from: now, to: new Date(now.getTime() + 14 * 86_400_000) }, now)
    .at(-1)!
    .toISOString()
}

/** A booked demo. @returns the code that cancels it */
const freshDemo: Fresh = async stage => {
  await uncounted(stage)
  const { graph } = stage
  const [id, code, at] = [newId(), randomUUID(), graph.clock.now()]
  await graph.rows(
    `insert into launcher.leads (id, kind, email, starts_at, is_booked, code_hash, created_at, updated_at, created_by)
     values ($1, 'DEMO', 'visitor@example.com', $2, true, $3, $4, $4, 'test')`,
    [id, new Date(at.getTime() + 86_400_000 + Math.floor(Math.random() * 1e12)), hashOfSecret(code), at],
  )
  return code
}

/** A browser that has decided. @returns its random id */
const freshSubject = async (stage: { readonly graph: Supergraph }): Promise<string> => {
  const { graph } = stage
  await graph.rows('delete from launcher.rates')
  const subject = randomUUID()
  await graph.rows(`insert into launcher.consent_decisions values ($1, $2, 'DECLINE', false, false, false, '1', $3, 'LOCAL', $3)`, [
    newId(),
    subject,
    graph.clock.now(),
  ])
  return subject
}

const email = 'visitor@example.com'
const api = '/launcher/api'
const open = { scopes: all, less: unrelated, cells: publicRoute, fresh: uncounted } as const
const decided = (subjectId: string) => ({ subjectId, decision: 'accept', policyVersion: '1', decidedAt: '2026-03-01T11:00:00Z' })

export const access: AccessRows = {
  fields: [
    row('Query.lead', all, unrelated, nobodyHere, ({ organization }) => `{ lead(id: "${organization}") { id } }`, 'lead'),
    row('Query.leads', all, unrelated, nobodyHere, constant('{ leads { nodes { id } } }'), 'leads'),
    row(
      'Query.consentDecision',
      all,
      unrelated,
      everybody,
      ({ fresh }) => `{ consentDecision(subjectId: "${fresh}") { id } }`,
      'consentDecision',
      freshSubject,
    ),
    row(
      'Mutation.submitContact',
      all,
      unrelated,
      everybody,
      change('submitContact', ({ fresh }) => `kind: CONTACT, name: "Vera", email: "${email}", message: "Hello", solution: "${fresh}"`, 'id'),
      'submitContact',
      freshSolution,
    ),
    row(
      'Mutation.joinWaitlist',
      all,
      unrelated,
      unsolved,
      change('joinWaitlist', () => `email: "${email}"`, 'email'),
      'joinWaitlist',
      uncounted,
    ),
    row(
      'Mutation.bookDemo',
      all,
      unrelated,
      unsolved,
      change('bookDemo', ({ fresh }) => `startsAt: "${fresh}", purpose: DEMO, name: "Vera", email: "${email}"`, 'id'),
      'bookDemo',
      freshSlot,
    ),
    row(
      'Mutation.cancelDemo',
      all,
      unrelated,
      everybody,
      change('cancelDemo', ({ fresh }) => `code: "${fresh}"`, 'id'),
      'cancelDemo',
      freshDemo,
    ),
    row(
      'Mutation.recordConsent',
      all,
      unrelated,
      everybody,
      change('recordConsent', ({ fresh }) => `subjectId: "${fresh}", decision: ACCEPT, policyVersion: "1", decidedAt: "2026-03-01T11:00:00Z"`, 'id'),
      'recordConsent',
      freshSubject,
    ),
    row(
      'Mutation.updateLead',
      all,
      unrelated,
      nobodyHere,
      change('updateLead', ({ organization }) => `id: "${organization}", status: DONE`, 'id'),
      'updateLead',
    ),
  ],
  routes: [
    { ...open, at: `GET ${api}/challenge`, path: () => `${api}/challenge` },
    { ...open, at: `POST ${api}/contact`, path: () => `${api}/contact`, body: () => ({ kind: 'contact', name: 'Vera', email, message: 'Hello' }) },
    { ...open, at: `POST ${api}/waitlist`, path: () => `${api}/waitlist`, body: () => ({ email }) },
    { ...open, at: `GET ${api}/demo-slots`, path: () => `${api}/demo-slots` },
    { ...open, at: `POST ${api}/demo-bookings`, path: () => `${api}/demo-bookings`, body: () => ({ purpose: 'demo' }) },
    { ...open, at: `POST ${api}/demo-bookings/cancel`, path: () => `${api}/demo-bookings/cancel`, body: () => ({ code: 'none' }) },
    { ...open, at: `PUT ${api}/consent`, fresh: freshSubject, path: () => `${api}/consent`, body: ({ fresh }) => decided(fresh!) },
    { ...open, at: `GET ${api}/consent/:subjectId`, fresh: freshSubject, path: ({ fresh }) => `${api}/consent/${fresh}` },
    { ...open, at: `POST ${api}/admin/session`, path: () => `${api}/admin/session`, body: () => ({ code: 'none' }) },
    { at: `GET ${api}/leads`, scopes: all, less: unrelated, cells: nobodyHere, path: () => `${api}/leads` },
    { at: `GET ${api}/leads/:id`, scopes: all, less: unrelated, cells: nobodyHere, path: ({ organization }) => `${api}/leads/${organization}` },
    {
      ...{ at: `PUT ${api}/leads/:id`, scopes: all, less: unrelated, cells: nobodyHere, path: ({ organization }) => `${api}/leads/${organization}` },
      body: () => ({ status: 'done' }),
    },
  ],
}
