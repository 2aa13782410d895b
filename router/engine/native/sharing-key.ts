import type { Viewer } from '../../../subgraphs/viewer.ts'
import type { Sharing } from '../../access/sharing.ts'
import type { IncrementalForm, OperationRequest } from '../engine.ts'
import type { ActiveOverrides } from '../operation/overrides/labels.ts'
import { passedHeaders } from '../transport/propagation.ts'

/** The parts of a request that distinguish one stream from another. */
export interface Asked {
  /** Key of the operation and its conditions, equal for equal ones. */
  readonly operation: string
  /** The access decision's verdict (`AccessDecision.verdict`). */
  readonly verdict: string
  /** Coerced variables, in the order of the operation's definitions, whatever order the client used. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly sharing: Sharing | null
  /** Names of headers that subgraphs are given. */
  readonly passed: readonly string[]
  /** Additions to the answers that the request asked for. */
  readonly shown: readonly string[]
  /** Labels of progressive overrides that are active. @default none */
  readonly overrides?: ActiveOverrides | undefined
  /** Form of the payloads of each event. @default events come in one piece */
  readonly form?: IncrementalForm | undefined
}

/** Returns the key under which one stream serves several subscribers: equal only where no answer could differ. */
export function sharingKey({ viewer, headers }: Pick<OperationRequest, 'viewer' | 'headers'>, asked: Asked): string {
  const { operation, verdict, variables, sharing, passed, shown, overrides, form } = asked
  const of = [operation, verdict, variables, whoOf(viewer, sharing), passedHeaders(passed, headers)]
  return JSON.stringify([...of, ...shown, ...labelsIn(overrides), ...(form ? [form] : [])])
}

const labelsIn = (overrides: ActiveOverrides | undefined) => (overrides && (overrides.active.length > 0 || overrides.shown) ? [overrides] : [])

function whoOf(viewer: Viewer, sharing: Sharing | null): unknown {
  const { organizationId, context, scopes, operations } = viewer
  // Data shared within an organization has no sharers without one.
  if (!sharing || (sharing.by === 'ORGANIZATION' && organizationId === null)) return viewer
  const among = sharing.sameScopes ? [scopes, operations] : null
  return sharing.by === 'EVERYONE' ? [among] : [among, context, organizationId]
}
