import { agingOfChallenges } from '../../platform/sql/spent.ts'
import { agingOfKeys, agingOfRecord } from '../store/books.ts'
import type { Foundation } from '../subgraph.ts'
import { defineSubgraph, type Noun } from '../wiring/define.ts'
import { agentNouns } from './agent/nouns.ts'
import { chatNouns } from './chat/nouns.ts'
import { connectNouns } from './connect/nouns.ts'
import { type At, stores } from './context.ts'
import { knowledgeNouns } from './knowledge/nouns.ts'
import { profileNouns } from './profile/nouns.ts'
import { received } from './received.ts'
import { type AgentsSettings, registration } from './registration.ts'
import { services } from './services.ts'
import { workflowNouns } from './workflow/nouns.ts'
import { workspaceNouns } from './workspace/nouns.ts'

const { slug } = registration

const nouns: Readonly<Record<string, Noun<At>>> = {
  ...profileNouns,
  ...agentNouns,
  ...chatNouns,
  ...knowledgeNouns,
  ...workflowNouns,
  ...workspaceNouns,
  ...connectNouns,
  audit: { retention: ({ settings }) => [agingOfRecord(slug, settings.retention.auditDays), agingOfKeys(slug), agingOfChallenges(slug)] },
}

/** Agents: workflows and their runs, and person profiles with what they are learned from. */
export const define = (foundation: Foundation, settings: AgentsSettings) =>
  defineSubgraph(foundation, settings, { registration, stores, services, received, nouns })
