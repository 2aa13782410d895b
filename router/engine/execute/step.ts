import type { FetchRewrite } from '@graphql-hive/router-query-planner'
import type { MergeShape } from '../data/merge.ts'
import type { Fetch } from '../engine.ts'
import type { Merger } from './merger.ts'
import type { Path } from './plan-tree.ts'
import type { RepresentInto } from './representations.ts'
import type { Walk } from './walk.ts'

/** A plan made ready to run: every document parsed, every answer's shape known. */
export type Step = SequenceStep | ParallelStep | FlowStep | FetchStep | EntityStep

interface SequenceStep {
  readonly kind: 'sequence'
  readonly steps: readonly Step[]
}

interface ParallelStep {
  readonly kind: 'parallel'
  readonly steps: readonly Step[]
}

/** Fetches that begin as soon as those are through that each comes after: these stand before it, and `after` tells where. */
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
}

/** A fetch of fields of entities that stand somewhere in the data already. */
export interface EntityStep {
  readonly kind: 'entities'
  readonly fetch: Fetch
  readonly variables: readonly FetchVariable[]
  readonly groups: readonly EntityGroup[]
}

/** One `_entities` field of a fetch. */
export interface EntityGroup {
  /** `_entities`, or the alias that a batch gave it. */
  readonly key: string
  readonly representations: string
  readonly paths: readonly Path[]
  /** One for each path. */
  readonly walks: readonly Walk[]
  /** For each path the type of those objects that come without their type's name. */
  readonly types: readonly (string | null)[]
  /** For each path the name under which the run keeps the objects there for the next fetch that starts from them. */
  readonly memos: readonly (string | null)[]
  /**
   * For each path whether equally represented objects there are equal in everything: then one object stands for all of them,
   * and takes what they wait for once.
   */
  readonly alike: readonly boolean[]
  readonly representInto: RepresentInto
  readonly rewrites: readonly FetchRewrite[]
  readonly shape: MergeShape
  readonly merger: Merger
}

export interface FetchVariable {
  /** In the fetch document. */
  readonly name: string
  /** In the client's operation. */
  readonly from: string
}

/** The steps of one operation; a subscription's first fetch stands by itself, for it yields events. */
export interface CompiledPlan {
  /** How long the longest of its fetches may take in ms; 0 where each takes what is usual. */
  readonly patienceMs: number
  readonly primary: FetchStep | null
  readonly root: Step | null
}
