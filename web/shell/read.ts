import { useCallback, useEffect, useState } from 'react'
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql'
import { useLive } from './context.ts'
import { type Problem, problemOf } from './data/problems.ts'

/** How a region stands. */
export type RegionState = 'loading' | 'ready' | 'empty' | 'error' | 'partial' | 'stale'

/** What was read, and how that stands. */
export interface Read<Data> {
  readonly data: Data | undefined
  readonly state: RegionState
  readonly problem: Problem | null
  retry(): void
}

/** Nobody waits longer for a region, in ms. */
const timeoutMs = 30_000

/** What was read since the document opened is so young that it is not read again at once, in ms. */
const freshMs = 10_000

/**
 * Reads the graph for a page. What was read before is shown at once and read again; after every return of the live connection too.
 * @param isEmpty whether what came is nothing to show @default never
 */
export function useRead<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { isEmpty, pause = false }: { isEmpty?: (data: Data) => boolean; pause?: boolean } = {},
): Read<Data> {
  const [requestPolicy] = useState(() => (performance.now() < freshMs ? ('cache-first' as const) : ('cache-and-network' as const)))
  const [{ data, error, fetching, stale }, read] = useQuery<Data, Variables>({ query, variables, pause, requestPolicy } as Parameters<
    typeof useQuery<Data, Variables>
  >[0])
  const live = useLive()
  useEffect(() => live.onReturn(() => read({ requestPolicy: 'network-only' })), [live, read])
  const isTooLate = useElapsed(timeoutMs, !data && fetching)
  const problem = problemOf(error)
  const state = ((): RegionState => {
    if (!data) return (error && !fetching && !stale) || isTooLate ? 'error' : 'loading'
    if (error) return error.networkError ? 'stale' : 'partial'
    return isEmpty?.(data) ? 'empty' : 'ready'
  })()
  // The same one at each drawing, so that what is drawn by its own data alone is not drawn again for it.
  const retry = useCallback(() => read({ requestPolicy: 'network-only' }), [read])
  return { data, state, problem, retry }
}

/** Whether something has gone on for so long. */
export function useElapsed(ms: number, isGoingOn: boolean): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    setOver(false)
    if (!isGoingOn) return
    const timer = setTimeout(() => setOver(true), ms)
    return () => clearTimeout(timer)
  }, [ms, isGoingOn])
  return isOver
}
