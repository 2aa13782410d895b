import type { Viewer } from '../../../subgraphs/viewer.ts'
import type { Sharing } from '../../access/sharing.ts'
import type { OperationRequest } from '../engine.ts'
import { passedHeaders } from '../transport/propagation.ts'

/** What of a request makes a stream another one. */
export interface Asked {
  /** The operation and its conditions, equal for equal ones. */
  readonly operation: string
  /** The access decision's verdict (`AccessDecision.verdict`). */
  readonly verdict: string
  /** Coerced, and so in the order in which the operation defines them, whatever order they came in. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly sharing: Sharing | null
  /** Names of headers that subgraphs are given. */
  readonly passed: readonly string[]
  /** What stands beside its answers. */
  readonly shown: readonly string[]
}

/** The key under which one stream serves several: equal only where no answer could differ. */
export function sharingKey({ viewer, headers }: Pick<OperationRequest, 'viewer' | 'headers'>, asked: Asked): string {
  const { operation, verdict, variables, sharing, passed, shown } = asked
  return JSON.stringify([operation, verdict, variables, whoOf(viewer, sharing), passedHeaders(passed, headers), ...shown])
}

function whoOf(viewer: Viewer, sharing: Sharing | null): unknown {
  const { organizationId, context, scopes, operations } = viewer
  // Data shared within an organization has no sharers without one.
  if (!sharing || (sharing.by === 'ORGANIZATION' && organizationId === null)) return viewer
  const among = sharing.sameScopes ? [scopes, operations] : null
  return sharing.by === 'EVERYONE' ? [among] : [among, context, organizationId]
}
