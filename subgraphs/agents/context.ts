import type { Reaches } from '../../platform/outbound/public.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import type { Running } from '../wiring/define.ts'
import type { Gate } from './engines/chat/gate.ts'
import type { Connect } from './engines/connect/connect.ts'
import type { EmbeddingRounds } from './engines/embed/embedding.ts'
import type { Embedder } from './engines/knowledge/embedder.ts'
import type { Models } from './engines/model/models.ts'
import type { Rounds } from './engines/page/rounds.ts'
import type { Runner } from './engines/run/runner.ts'
import type { PolicyDesk, RunWork } from './engines/run/work.ts'
import type { Replies } from './engines/talk/replies.ts'
import type { Stops } from './engines/talk/stops.ts'
import type { AgentsSettings, Quotas } from './registration.ts'
import { agentStore } from './stores/agent.ts'
import { chatRateStore } from './stores/chat/rate.ts'
import { chatSessionStore, chatTurnStore } from './stores/chat/session.ts'
import { chatSiteStore } from './stores/chat/site.ts'
import { connectorStore } from './stores/connector.ts'
import { workflowHookStore } from './stores/hook.ts'
import { chunkStore } from './stores/knowledge/chunk.ts'
import { documentStore } from './stores/knowledge/document.ts'
import { knowledgeSourceStore } from './stores/knowledge/knowledge-source.ts'
import { vectorStore } from './stores/knowledge/vector.ts'
import { modelCallStore } from './stores/model-call.ts'
import { personProfileStore } from './stores/person-profile.ts'
import { profileAuthorizationStore } from './stores/profile-authorization.ts'
import { profileSourceStore } from './stores/profile-source.ts'
import { reportStore, workFeedStore } from './stores/report.ts'
import { reservedCallStore } from './stores/reserved-call.ts'
import { approvalStore } from './stores/run/approval.ts'
import { policyRequestStore } from './stores/run/policy-request.ts'
import { mappedRunStore, runStore } from './stores/run/run.ts'
import { stepStore } from './stores/run/step.ts'
import { styleSnapshotStore } from './stores/style-snapshot.ts'
import { conversationStore } from './stores/talk/conversation.ts'
import { conversationMessageStore } from './stores/talk/message.ts'
import { planStore, workflowStore } from './stores/workflow.ts'
import { killSwitchStore } from './stores/workspace/kill-switch.ts'
import { memoryStore } from './stores/workspace/memory.ts'
import { operatingWorkspaceStore } from './stores/workspace/operating-workspace.ts'
import { taskStore } from './stores/workspace/task.ts'
import { widgetStore } from './stores/workspace/widget.ts'

/** What agents keep, each store under the name by which resolvers and jobs know it. */
export const stores = {
  agents: agentStore,
  approvals: approvalStore,
  chatRates: chatRateStore,
  chatSessions: chatSessionStore,
  chatSites: chatSiteStore,
  chatTurns: chatTurnStore,
  conversationMessages: conversationMessageStore,
  conversations: conversationStore,
  killSwitches: killSwitchStore,
  memories: memoryStore,
  operatingWorkspaces: operatingWorkspaceStore,
  modelCalls: modelCallStore,
  connectors: connectorStore,
  chunks: chunkStore,
  documents: documentStore,
  knowledgeSources: knowledgeSourceStore,
  personProfiles: personProfileStore,
  plans: planStore,
  policyRequests: policyRequestStore,
  profileAuthorizations: profileAuthorizationStore,
  profileSources: profileSourceStore,
  reports: reportStore,
  reservedCalls: reservedCallStore,
  mappedRuns: mappedRunStore,
  runs: runStore,
  steps: stepStore,
  styleSnapshots: styleSnapshotStore,
  tasks: taskStore,
  vectors: vectorStore,
  widget: widgetStore,
  workFeed: workFeedStore,
  workflowHooks: workflowHookStore,
  workflows: workflowStore,
}

/** What agents work with besides: made once in `services.ts`. */
export interface Services extends Pick<Foundation, 'clock' | 'events' | 'log' | 'outbound' | 'publicUrl'>, Pick<RunWork, 'call' | 'toolsOf'> {
  readonly quotas: Quotas
  /** Whether a person is a member of the viewer's organization, as identity knows it. */
  isMember(userId: string, organizationId: string, viewer: Viewer): Promise<boolean>
  /** What guards the public chat. */
  readonly gate: Gate
  /** The slug of an organization, as identity knows it. */
  slugOf(organizationId: string): Promise<string>
  /** What writes the replies of agents in this process. */
  readonly replies: Replies
  /** What ends the calls of replies that a person stopped. */
  readonly stops: Stops
  /** The way to models. */
  readonly models: Models
  /** What calls to connectors are made with. */
  readonly connect: Connect
  readonly fetching: Rounds
  /** The indexing of knowledge sources. */
  readonly indexing: Rounds
  /** What makes vectors of questions and passages, and its rounds; null: no model is set for it. */
  readonly embedder: Embedder | null
  readonly embedding: EmbeddingRounds | null
  /** Checks in advance whether the platform may call an address. */
  readonly reaches: Reaches
  /** What asks the settlement and policy service; its rounds, where there is one. */
  readonly policy: PolicyDesk
  readonly policyRounds: Rounds | null
  /** What takes runs on in this process. */
  readonly runner: Runner
  /** What works with everybody's rows, under the name of whoever caused it. */
  jobFor(actor: string): Job
}

/** What resolvers receive: the viewer, and the stores limited to what the viewer may see. */
export type Context = ContextOf<typeof stores, Services>

/** What jobs and demo data work with: everybody's rows. */
export type Job = JobContextOf<typeof stores, Services>

/** The subgraph as its nouns find it. */
export type At = Running<typeof stores, Services, AgentsSettings>
