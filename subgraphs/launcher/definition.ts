import type { Foundation } from '../subgraph.ts'
import { defineSubgraph, type Noun } from '../wiring/define.ts'
import { actionItem } from './action-item/noun.ts'
import { type At, stores } from './context.ts'
import { received } from './received.ts'
import { registration } from './registration.ts'
import { aging } from './retention.ts'
import { widget } from './widget/noun.ts'

const nouns: Readonly<Record<string, Noun<At>>> = { 'action-item': actionItem, widget, audit: { retention: () => aging } }

/** The launcher: the live widgets of every app on one dashboard, and what waits for somebody in any of them. */
export const define = (foundation: Foundation) =>
  defineSubgraph(foundation, undefined, {
    registration,
    stores: stores(foundation.ask),
    services: ({ foundation: { events, publicUrl }, log }) => ({ events, log, publicUrl }),
    received,
    nouns,
  })
