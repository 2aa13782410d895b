import type { Foundation } from '../subgraph.ts'
import { defineSubgraph, type Noun } from '../wiring/define.ts'
import { stores } from './context.ts'
import { eventNouns } from './nouns/events.ts'
import { httpOf } from './nouns/http.ts'
import { invoicingNouns } from './nouns/invoicing.ts'
import { partyNouns } from './nouns/parties.ts'
import { payingNouns } from './nouns/paying.ts'
import { received } from './nouns/received.ts'
import { reportNouns } from './nouns/reports.ts'
import { type At, type PaymentsSettings, services } from './nouns/services.ts'
import { settlement } from './nouns/settlement.ts'
import { registration } from './registration.ts'
import { auditRecording } from './stores/admin/audit-entry.ts'

const nouns: Readonly<Record<string, Noun<At>>> = {
  ...payingNouns,
  ...eventNouns,
  ...partyNouns,
  ...invoicingNouns,
  'transaction/settlement': settlement,
  ...reportNouns,
}

/** Payments: orders, and what becomes of them. */
export const define = (foundation: Foundation, settings: PaymentsSettings) =>
  defineSubgraph(foundation, settings, { registration, stores, services, received, nouns, http: httpOf, recording: () => auditRecording })
