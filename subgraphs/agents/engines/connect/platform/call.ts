import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { Ask } from '../../../../../platform/ask.ts'
import {
  PersonsRightsDocument,
  ToolCreateOrderDocument,
  ToolCreatePostDocument,
  ToolReadOrdersDocument,
  ToolReadPostsDocument,
  ToolSchedulePostDocument,
} from '../../../ask.generated.ts'
import { registration } from '../../../registration.ts'
import type { Json } from '../../../stores/workflow.ts'
import type { CallEnd, CallFailure } from '../../run/interpret.ts'
import { argumentsOf, isPlatformTool, mostRead, type PlatformTool } from './tools.ts'

/** A call of a tool of our own platform. */
export interface PlatformCall {
  readonly organizationId: string
  /** Within whose rights it is made; null: nobody's, so that it is refused. */
  readonly person: string | null
  readonly tool: string
  readonly arguments: Readonly<Record<string, Json>>
  readonly idempotencyKey: string
  readonly timeoutMs: number
}

const failed = (code: 'NOT_PERMITTED' | 'TOOL_ERROR', message: string): CallEnd => ({ failure: { hadNoEffect: true, isFinal: true, code, message } })

type Viewer = Parameters<Ask>[2]['viewer']
type Given = Readonly<Record<string, Json>>

/** Asks the graph on behalf of a person. Values of arguments are checked by the graph. */
type AskGraph = <Data>(document: TypedDocumentNode<Data, never>, variables: object) => Promise<Data>

/** A list with no more entries than a tool reads. */
const bounded = (given: Given): Given => ({ ...given, ...(typeof given.first === 'number' && { first: Math.min(given.first, mostRead) }) })

const calls: Readonly<Record<PlatformTool, (ask: AskGraph, given: Given, idempotencyKey: string) => Promise<Json>>> = {
  create_post: async (ask, given, idempotencyKey) => plain((await ask(ToolCreatePostDocument, { input: { ...given, idempotencyKey } })).createPost),
  // Setting the same time twice has one effect.
  schedule_post: async (ask, given) => plain((await ask(ToolSchedulePostDocument, { input: given })).reschedulePost),
  read_posts: async (ask, given) => ({ posts: plain((await ask(ToolReadPostsDocument, bounded(given))).posts?.nodes ?? []) }),
  create_order: async (ask, given, idempotencyKey) => plain((await ask(ToolCreateOrderDocument, { input: { ...given, idempotencyKey } })).createOrder),
  read_orders: async (ask, given) => ({ orders: plain((await ask(ToolReadOrdersDocument, bounded(given))).orders?.nodes ?? []) }),
}

/** What the graph answered, as JSON: with times and large numbers as texts. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each)))

/** Calls a tool of our own platform within what a person may do at this moment. It never rejects. */
export async function callPlatformTool(ask: Ask, call: PlatformCall): Promise<CallEnd> {
  const { organizationId, person, tool, arguments: given, idempotencyKey, timeoutMs } = call
  if (!isPlatformTool(tool)) return failed('NOT_PERMITTED', `The platform has no tool ${tool}.`)
  if (person === null) return failed('NOT_PERMITTED', 'No person began this run: the platform is called within the rights of one.')
  const unknown = Object.keys(given).find(name => !argumentsOf(tool).includes(name))
  if (unknown !== undefined) return failed('TOOL_ERROR', `${unknown} is no argument of ${tool}: it takes ${argumentsOf(tool).join(', ')}.`)
  const { appId } = registration
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const nobody: Viewer = { userId: null, organizationId, roles: [], scopes: [], context: 'organization' }
    const { memberRights: rights } = await ask(PersonsRightsDocument, { userId: person, organizationId }, { appId, viewer: nobody, signal })
    if (!rights) return failed('NOT_PERMITTED', 'The person of this run is no member of the organization any more.')
    const roles = rights.roles.map(role => role.toLowerCase())
    const viewer: Viewer = { userId: person, organizationId, roles, scopes: rights.scopes, context: 'organization' }
    const asPerson: AskGraph = (document, variables) =>
      ask(document as TypedDocumentNode<never, Record<string, unknown>>, { ...variables }, { appId, viewer, timeoutMs: timeoutMs, signal })
    return { answer: await calls[tool](asPerson, given, idempotencyKey) }
  } catch (error) {
    return { failure: failureOf(error as Error & { extensions?: { code?: string; retryAfter?: number } }, signal.aborted) }
  }
}

const denials: readonly (string | undefined)[] = ['FORBIDDEN', 'UNAUTHORIZED_FIELD_OR_TYPE', 'UNAUTHENTICATED']
const refusals: readonly (string | undefined)[] = ['BAD_USER_INPUT', 'NOT_FOUND', 'CONFLICT', 'BUDGET_EXCEEDED', 'GRAPHQL_VALIDATION_FAILED']

function failureOf({ message, extensions }: Error & { extensions?: { code?: string; retryAfter?: number } }, isLate: boolean): CallFailure {
  const code = extensions?.code
  if (denials.includes(code)) return { hadNoEffect: true, isFinal: true, code: 'NOT_PERMITTED', message }
  if (refusals.includes(code)) return { hadNoEffect: true, isFinal: true, code: 'TOOL_ERROR', message }
  if (code === 'RATE_LIMITED') return { hadNoEffect: true, code: 'UPSTREAM_FAILED', message, retryAfterMs: (extensions?.retryAfter ?? 1) * 1_000 }
  if (isLate) return { hadNoEffect: false, code: 'STEP_TIMEOUT', message: 'The platform did not answer in time.' }
  return { hadNoEffect: false, code: 'UPSTREAM_FAILED', message: 'The platform gave an unexpected answer.' }
}
