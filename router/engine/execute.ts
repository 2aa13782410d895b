import type { ExecutionResult, GraphQLError } from 'graphql'
import type { CompiledPlan, EntityGroup, EntityStep, FetchStep, FetchVariable, Step } from './compile.ts'
import { applyRewrite, type Place, visitTargets } from './data/entities.ts'
import { type Data, isData } from './data/merge.ts'
import { createRepresentations, type Representations } from './data/representations.ts'
import type { Owner } from './data/walk.ts'
import type { Fetch, FetchCall, Transport } from './engine.ts'
import type { Supergraph } from './supergraph.ts'

/** Something that went wrong at a subgraph, still in the data's own keys. */
export interface Failure {
  readonly subgraph: string
  /** What a resolver threw, as the subgraph told it; null when the subgraph itself failed, which `cause` explains. */
  readonly error: GraphQLError | null
  readonly cause: unknown
  /** Every place that it concerns; empty when it concerns the whole answer. */
  readonly places: readonly Place[]
  /** Inner names of this fetch and what they stand for. */
  readonly renames: ReadonlyMap<string, string>
}

/** One run of a plan: everything that it reads and leaves behind. A subscription makes a new one for every event. */
export interface Run {
  readonly transport: Transport
  readonly supergraph: Supergraph
  /** Coerced, under the client's names. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly call: Omit<FetchCall, 'variables'>
  readonly data: Data
  readonly failures: Failure[]
  /** Objects at paths from which a later fetch starts again (`EntityGroup.memos`), each once where equal ones became one. */
  readonly met: Map<string, readonly Data[]>
}

/** How many places one failure is told for: an entity that stands everywhere would repeat it everywhere. */
const mostPlaces = 50

/** Runs a plan: fills `run.data` and `run.failures`. Never rejects for what a subgraph does; stops fetching once aborted. */
export async function runPlan(run: Run, plan: CompiledPlan): Promise<void> {
  if (!plan.root) return
  await runStep(run, plan.root)
  renameOutputs(run, plan.root)
}

/** Takes the answer to a fetch of root fields into the run: also how a subscription's event enters it. */
export function takeAnswer(run: Run, step: FetchStep, result: ExecutionResult): void {
  const { data, errors } = result
  if (isData(data)) step.merger.take(run.data, data)
  if (!errors && isData(data)) return
  const roots = [...step.shape.keys()].map(key => [key])
  const failed = { subgraph: step.fetch.subgraph, renames: renamesOf(step.rewrites), cause: null }
  for (const error of errorsOf(errors)) {
    const path = pathOf(error)
    run.failures.push({ ...failed, error, places: path ? [path] : roots.length === 1 ? roots : [] })
  }
  if (!isData(data) && errorsOf(errors).length === 0) run.failures.push({ ...failed, error: null, cause: noAnswer, places: roots })
}

async function runStep(run: Run, step: Step): Promise<void> {
  switch (step.kind) {
    case 'sequence':
      for (const inner of step.steps) await runStep(run, inner)
      return
    case 'parallel':
      await Promise.all(step.steps.map(inner => runStep(run, inner)))
      return
    case 'fetch':
      return runFetch(run, step)
    case 'entities':
      return runEntities(run, step)
  }
}

async function runFetch(run: Run, step: FetchStep): Promise<void> {
  if (run.call.signal?.aborted) return
  try {
    takeAnswer(run, step, await send(run, step.fetch, variablesFor(run, step.variables)))
  } catch (cause) {
    const places = [...step.shape.keys()].map(key => [key])
    run.failures.push({ subgraph: step.fetch.subgraph, error: null, cause, places, renames: noRenames })
  }
}

/** Objects of the data that wait for the same entity, by path and by the representation's index. */
type Waiting = readonly (readonly Data[][])[]

async function runEntities(run: Run, step: EntityStep): Promise<void> {
  if (run.call.signal?.aborted) return
  const variables = variablesFor(run, step.variables)
  const told = new Map<string, Representations>()
  const waiting = step.groups.map(group => gather(run, group, told))
  let some = false
  for (const [variable, { list }] of told) {
    variables[variable] = list
    some ||= list.length > 0
  }
  if (!some) return
  let result: ExecutionResult
  try {
    result = await send(run, step.fetch, variables)
    if (!isData(result.data) && errorsOf(result.errors).length === 0) throw noAnswer
  } catch (cause) {
    step.groups.forEach((group, index) => {
      run.failures.push({ subgraph: step.fetch.subgraph, error: null, cause, places: placesOf(run, group, waiting[index]!.flat(2)), renames: noRenames })
    })
    return
  }
  step.groups.forEach((group, index) => {
    const entities = isData(result.data) ? result.data[group.key] : null
    if (Array.isArray(entities)) takeEntities(group, waiting[index]!, entities)
  })
  if (result.errors) for (const error of errorsOf(result.errors)) takeEntityError(run, step, waiting, error)
}

/** Collects the representations of one group; equal ones are sent once, across all groups that share a variable. */
function gather(run: Run, group: EntityGroup, told: Map<string, Representations>): Waiting {
  let representations = told.get(group.representations)
  if (!representations) {
    representations = createRepresentations()
    told.set(group.representations, representations)
  }
  const into = representations
  return group.walks.map((walk, at) => {
    const represent = group.representInto(into, group.types[at] ?? null)
    const waiting: Data[][] = []
    const alike = group.alike[at]
    const memo = group.memos[at] ?? null
    const met = memo === null ? undefined : run.met.get(memo)
    const meeting: Data[] | null = memo === null || met ? null : []
    const visit = (object: Data, owner: Owner | null, key: string | number) => {
      const index = represent(object)
      const targets = index === -1 ? undefined : waiting[index]
      if (targets && targets[0] === object) return
      if (targets && alike && owner) {
        owner[key] = targets[0]
        return
      }
      meeting?.push(object)
      if (targets) targets.push(object)
      else if (index !== -1) waiting[index] = [object]
    }
    if (met) for (const object of met) visit(object, null, 0)
    else walk(run.data, visit)
    if (memo !== null && meeting) run.met.set(memo, meeting)
    return waiting
  })
}

/**
 * Gives every waiting object its entity. Objects at one path may share what the entity holds, because whatever is done at a
 * path later is done to all of them; those at another path get a copy.
 */
function takeEntities({ merger }: EntityGroup, waiting: Waiting, entities: readonly unknown[]): void {
  const taken = merger.hasObjects && waiting.length > 1 ? new Set<number>() : null
  for (const atPath of waiting) {
    atPath.forEach((targets, index) => {
      let entity = entities[index]
      if (!isData(entity)) return
      if (taken?.has(index)) entity = merger.copy(entity)
      else taken?.add(index)
      for (const target of targets) merger.take(target, entity as Data)
    })
  }
}

function takeEntityError(run: Run, step: EntityStep, waiting: readonly Waiting[], error: GraphQLError): void {
  const path = pathOf(error)
  const at = path ? step.groups.findIndex(group => group.key === path[0]) : -1
  const concerned = at === -1 ? step.groups : [step.groups[at]!]
  concerned.forEach((group, offset) => {
    const groupWaiting = waiting[at === -1 ? offset : at]!
    const index = path?.[1]
    const entity = at !== -1 && typeof index === 'number' ? groupWaiting.flatMap(atPath => atPath[index] ?? []) : groupWaiting.flat(2)
    const tail = at === -1 ? [] : (path?.slice(2) ?? [])
    const places = placesOf(run, group, entity, tail)
    if (places.length === 0) return
    run.failures.push({ subgraph: step.fetch.subgraph, error, cause: null, places, renames: renamesOf(group.rewrites) })
  })
}

/** Where objects stand: walked only for errors. Without a tail, an only field of the fetch is the one that failed. */
function placesOf(run: Run, group: EntityGroup, objects: readonly Data[], tail: Place = []): Place[] {
  const wanted = new Set(objects)
  const places: Place[] = []
  const fields = [...group.shape.keys()].filter(key => key !== '__typename')
  const end = tail.length === 0 && fields.length === 1 ? fields : tail
  for (const path of group.paths) {
    visitTargets(
      run.data,
      path,
      run.supergraph,
      (object, place) => {
        if (places.length < mostPlaces && wanted.has(object)) places.push([...place!, ...end])
      },
      [],
    )
  }
  return places
}

/**
 * Gives values their names where two types of one fetch could not have the same. Done after the last fetch, because until
 * then what a later fetch requires stands under that name.
 */
function renameOutputs(run: Run, step: Step): void {
  if (step.kind === 'sequence' || step.kind === 'parallel') {
    for (const inner of step.steps) renameOutputs(run, inner)
  } else if (step.kind === 'fetch') {
    for (const rewrite of step.rewrites) applyRewrite(run.data, rewrite, run.supergraph)
  } else {
    for (const group of step.groups) {
      if (group.rewrites.length === 0) continue
      for (const path of group.paths) {
        visitTargets(run.data, path, run.supergraph, object => {
          for (const rewrite of group.rewrites) applyRewrite(object, rewrite, run.supergraph)
        })
      }
    }
  }
}

const noRenames: ReadonlyMap<string, string> = new Map()

function renamesOf(rewrites: FetchStep['rewrites']): ReadonlyMap<string, string> {
  if (rewrites.length === 0) return noRenames
  const renames = new Map<string, string>()
  for (const rewrite of rewrites) {
    if (!('KeyRenamer' in rewrite)) continue
    const last = rewrite.KeyRenamer.path.at(-1)
    if (last && 'Key' in last) renames.set(last.Key, rewrite.KeyRenamer.renameKeyTo)
  }
  return renames
}

/** What a fetch needs of the variables. Absent ones stay absent: absent and null are different things to a resolver. */
export function variablesFor(run: Run, variables: readonly FetchVariable[]): Data {
  const values: Data = {}
  for (const { name, from } of variables) if (Object.hasOwn(run.variables, from)) values[name] = run.variables[from]
  return values
}

const send = async (run: Run, fetch: Fetch, variables: Data): Promise<ExecutionResult> => {
  const result: unknown = await run.transport.fetch(fetch, { ...run.call, variables })
  if (!isData(result)) throw noAnswer
  return result as ExecutionResult
}

const noAnswer = new Error('The subgraph answered with neither data nor errors')

/** What a subgraph calls errors, as far as it has the form of some. */
function errorsOf(errors: unknown): readonly GraphQLError[] {
  if (!Array.isArray(errors)) return []
  return errors.filter((error): error is GraphQLError => isData(error))
}

function pathOf(error: GraphQLError): Place | null {
  const path: unknown = error.path
  return Array.isArray(path) && path.length > 0 ? path : null
}
