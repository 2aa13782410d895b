import type { FetchRewrite, RequiresSelection } from '@graphql-hive/router-query-planner'
import type { MergeShape } from '../data/merge.ts'
import type { Fetch } from '../engine.ts'
import type { ContextValue } from '../graph/contexts.ts'
import type { Deferral } from '../operation/deferral.ts'
import type { Merger } from './merger.ts'
import type { StreamedList } from './needs.ts'
import type { Path } from './plan-tree.ts'
import type { RepresentInto } from './representations.ts'
import type { Walk } from './walk.ts'

/** A plan ready to run: every document parsed, every answer's shape known. */
export type Step = SequenceStep | ParallelStep | FlowStep | FetchStep | EntityStep

interface SequenceStep {
  readonly kind: 'sequence'
  readonly steps: readonly Step[]
}

interface ParallelStep {
  readonly kind: 'parallel'
  readonly steps: readonly Step[]
}

/** Fetches that each begin as soon as their dependencies have finished; `after` lists the dependencies of each. */
export interface FlowStep {
  readonly kind: 'flow'
  readonly steps: readonly (FetchStep | EntityStep)[]
  readonly after: readonly (readonly number[])[]
}

/** A fetch of root fields. */
export interface FetchStep {
  readonly kind: 'fetch'
  readonly fetch: Fetch
  readonly variables: readonly FetchVariable[]
  readonly shape: MergeShape
  readonly merger: Merger
  readonly rewrites: readonly FetchRewrite[]
  /** Root fields of the planned fetch, of which this one may be a portion: what fails as a whole fails for all of them. */
  readonly roots: readonly string[]
}

/** A fetch that adds fields to entities that are in the data already. */
export interface EntityStep {
  readonly kind: 'entities'
  readonly fetch: Fetch
  readonly variables: readonly FetchVariable[]
  readonly groups: readonly EntityGroup[]
  /** Streamed list of whose elements the fetch completes all but the first; null for one that completes those of all others. */
  readonly rest: Deferral | null
  /** Values that the entities take from objects around them; null where they take none. */
  readonly contexts: Contexts | null
}

/** The values that entities of a fetch take from objects around them, and the fetches for several sets of values. */
export interface Contexts {
  readonly values: readonly ContextValue[]
  /** The one for most sets of values comes first, that for a single set last. */
  readonly fetches: readonly ContextFetch[]
}

/** A fetch of entities with several sets of values. */
export interface ContextFetch {
  readonly fetch: Fetch
  /** Keys of its `_entities` fields, one for each set. */
  readonly keys: readonly string[]
  /** What the names of variables of each set end with. */
  readonly suffixes: readonly string[]
}

/** One `_entities` field of a fetch. */
export interface EntityGroup {
  /** `_entities`, or the alias that a batched fetch gave it. */
  readonly key: string
  readonly representations: string
  readonly paths: readonly Path[]
  /** One walk for each path. */
  readonly walks: readonly Walk[]
  /** For each path, the streamed list that it leads through. */
  readonly through: readonly (Deferral | null)[]
  /** For each path, the type of the objects whose `__typename` was not fetched. */
  readonly types: readonly (string | null)[]
  /** For each path, the name under which the run keeps its objects for the next fetch that starts from them. */
  readonly memos: readonly (string | null)[]
  /**
   * For each path, whether equal representations mean equal objects: then one object stands for all of them and is
   * completed once.
   */
  readonly alike: readonly boolean[]
  /** Whether objects that wait for the same entity may share the objects below it: later fetches treat them alike. */
  readonly sharesValues: boolean
  /** The keys and fields of which representations consist. */
  readonly requires: readonly RequiresSelection[]
  readonly representInto: RepresentInto
  readonly rewrites: readonly FetchRewrite[]
  readonly shape: MergeShape
  readonly merger: Merger
  /** Keys of the planned fetch's entities, of which this one may fetch a portion. */
  readonly keys: readonly string[]
}

export interface FetchVariable {
  /** Name of the variable in the fetch document. */
  readonly name: string
  /** Name of the variable in the client's operation. */
  readonly from: string
}

/** The steps of one operation. A subscription's first fetch is separate, because it yields events. */
export interface CompiledPlan {
  /** Longest time in ms that `@patience` grants to one of the fetches; 0 where all have the usual limit. */
  readonly timeoutMs: number
  readonly primary: FetchStep | null
  /** The fetches that the answer, or the first payload of an incremental one, waits for. */
  readonly root: Step | null
  /** The fetches that only deferred fragments need, in the order in which they may begin. */
  readonly deferred: readonly DeferredStep[]
  readonly streams: readonly StreamedList[]
}

/** A fetch that only deferred fragments need. It begins after the first payload. */
export interface DeferredStep {
  readonly step: FetchStep | EntityStep
  /** Deferrals whose parts wait for it. */
  readonly for: readonly Deferral[]
  /** Positions of the deferred fetches that must finish before it. */
  readonly after: readonly number[]
}
