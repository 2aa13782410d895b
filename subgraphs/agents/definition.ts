import { agingOfChallenges } from '../../platform/sql/spent.ts'
import { agingOfKeys, agingOfRecord } from '../store/books.ts'
import type { Foundation } from '../subgraph.ts'
import { defineSubgraph, type Noun } from '../wiring/define.ts'
import { type At, stores } from './context.ts'
import { personProfileResolvers } from './person-profile/resolvers.ts'
import { profileSource } from './profile-source/noun.ts'
import { received } from './received.ts'
import { type AgentsSettings, registration } from './registration.ts'
import { services } from './services.ts'
import { styleSnapshotResolvers } from './style-snapshot/resolvers.ts'
import { widgetResolvers } from './widget/resolvers.ts'

const { slug } = registration

const nouns: Readonly<Record<string, Noun<At>>> = {
  'person-profile': { resolvers: personProfileResolvers },
  'profile-source': profileSource,
  'style-snapshot': { resolvers: styleSnapshotResolvers },
  widget: { resolvers: widgetResolvers },
  audit: { retention: ({ settings }) => [agingOfRecord(slug, settings.retention.auditDays), agingOfKeys(slug), agingOfChallenges(slug)] },
}

/** Agents: person profiles, what they are learned from, and what is measured in it. */
export const define = (foundation: Foundation, settings: AgentsSettings) =>
  defineSubgraph(foundation, settings, { registration, stores, services, received, nouns })
