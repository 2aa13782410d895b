import type { ExecutionResult, GraphQLError } from 'graphql'
import { countElements } from '../data/elements.ts'
import { type Data, isData } from '../data/merge.ts'
import type { Fetch, FetchCall, Transport } from '../engine.ts'
import { type Place, TooMuch } from '../errors.ts'
import type { Deferral } from '../operation/deferral.ts'
import { contextRequests } from './contexts.ts'
import { applyRewrite, visitTargets } from './entities.ts'
import { type Streaming, visitPlaces, withElements } from './incremental/streamed.ts'
import { createRepresentations, type Representations } from './representations.ts'
import type { CompiledPlan, EntityGroup, EntityStep, FetchStep, FetchVariable, FlowStep, Step } from './step.ts'
import type { Owner } from './walk.ts'

/** A failure at a subgraph, still in the data's own keys. */
export interface Failure {
  readonly subgraph: string
  /** The error that a resolver threw, as the subgraph sent it; null when the subgraph itself failed (see `cause`). */
  readonly error: GraphQLError | null
  readonly cause: unknown
  /** Paths that the failure concerns; empty when it concerns the whole answer. */
  readonly places: readonly Place[]
  /** Inner names of this fetch and the client's names for them. */
  readonly renames: ReadonlyMap<string, string>
}

/** One run of a plan with all its data. A subscription creates a new run for every event. */
export interface Run extends Streaming {
  readonly transport: Transport
  /** Coerced variables under the client's names. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly call: Omit<FetchCall, 'variables'>
  readonly failures: Failure[]
  /** Keys of mutations that repeated an earlier result of the same idempotency key. */
  readonly replayed: Set<string>
  /** Objects at paths from which a later fetch starts again (`EntityGroup.memos`), without duplicates. */
  readonly found: Map<string, readonly Data[]>
  /** Objects whose entity a subgraph reported as missing, with the representation that it received. */
  readonly missing: Map<Data, Data>
}

/**
 * Maximum number of paths at which one failure is reported: an entity that occurs everywhere would repeat the failure
 * everywhere.
 */
const mostPlaces = 50

/**
 * Runs a plan: fills `run.data` and `run.failures`. It never rejects for a subgraph's failure, and stops fetching once
 * aborted.
 */
export async function runPlan(run: Run, plan: CompiledPlan): Promise<void> {
  if (!plan.root) return
  await runStep(run, plan.root)
  renameOutputs(run, plan.root)
}

/** Runs one fetch after the first payload of an incremental answer, under the same rules. */
export async function runDeferred(run: Run, step: FetchStep | EntityStep): Promise<void> {
  await runStep(run, step)
  renameOutputs(run, step)
}

/** Merges the answer to a fetch of root fields into the run; also used for a subscription's events. */
export function takeAnswer(run: Run, step: FetchStep, result: ExecutionResult): void {
  const { data, errors, extensions } = result
  if (step.fetch.kind === 'mutation' && Array.isArray(extensions?.replayed))
    for (const key of extensions.replayed) if (step.shape.has(key)) run.replayed.add(key)
  if (isData(data)) step.merger.take(run.data, data, countElements())
  if (!errors && isData(data)) return
  const roots = step.roots.map(key => [key])
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
    case 'flow':
      return runFlow(run, step)
    case 'fetch':
      return runFetch(run, step)
    case 'entities':
      return runEntities(run, step)
  }
}

async function runFlow(run: Run, { steps, after }: FlowStep): Promise<void> {
  const through: Promise<unknown>[] = []
  for (const [at, step] of steps.entries()) {
    const waits = after[at]!.map(earlier => through[earlier])
    through.push(waits.length === 0 ? runStep(run, step) : Promise.all(waits).then(() => runStep(run, step)))
  }
  await Promise.all(through)
}

async function runFetch(run: Run, step: FetchStep): Promise<void> {
  if (run.call.signal?.aborted) return
  try {
    takeAnswer(run, step, await send(run, step.fetch, variablesFor(run, step.variables)))
  } catch (cause) {
    if (cause instanceof TooMuch) throw cause
    const places = step.roots.map(key => [key])
    run.failures.push({ subgraph: step.fetch.subgraph, error: null, cause, places, renames: noRenames })
  }
}

/** Objects of the data that wait for the same entity, by path and by the representation's index. */
type Waiting = readonly (readonly Data[][])[]

async function runEntities(run: Run, step: EntityStep): Promise<void> {
  if (run.call.signal?.aborted) return
  const waiting: Waiting[] = []
  try {
    const byVariable = new Map<string, Representations>()
    if (step.contexts) {
      const requests = contextRequests(step, step.contexts, run.data, run.supergraph, (at, visit) => visitPlaces(run, step.groups[0]!, at, step.rest, visit))
      await Promise.all(requests.map(each => askEntities(run, each.step, each.waiting, each.byVariable, each.variables)))
      return
    }
    for (const group of step.groups) waiting.push(gather(run, group, byVariable, step.rest))
    await askEntities(run, step, waiting, byVariable)
  } catch (cause) {
    // No subgraph is at fault, and no other step could answer.
    if (cause instanceof TooMuch) throw cause
    for (const at of step.groups.keys()) failEntities(run, step, waiting, at, cause)
  }
}

/** Reports a failure at all objects that wait for entities of one group. */
function failEntities(run: Run, step: EntityStep, waiting: readonly Waiting[], at: number, cause: unknown): void {
  const group = step.groups[at]!
  const places = placesOf(group, waiting[at]?.flat(2) ?? [], whereabouts(run, group))
  run.failures.push({ subgraph: step.fetch.subgraph, error: null, cause, places, renames: noRenames })
}

/** Sends the request of a step, and merges its entities into the objects that wait for them. */
async function askEntities(
  run: Run,
  step: EntityStep,
  waiting: readonly Waiting[],
  byVariable: ReadonlyMap<string, Representations>,
  more: Data = {},
): Promise<void> {
  try {
    const variables = { ...variablesFor(run, step.variables), ...more }
    let some = false
    for (const [variable, { list }] of byVariable) {
      variables[variable] = list
      some ||= list.length > 0
    }
    if (!some) return
    const { data, errors } = await send(run, step.fetch, variables)
    const sent = errors ? errorsOf(errors) : []
    if (!isData(data) && sent.length === 0) throw noAnswer
    step.groups.forEach((group, at) => {
      const asked = byVariable.get(group.representations)!.list
      const entities = isData(data) ? data[group.key] : null
      if (areEntities(entities, asked.length)) takeEntities(run, group, waiting[at]!, asked, entities)
      // Once all clients have left, running fetches end with empty lists, which is no subgraph's failure.
      else if (sent.length === 0 && !run.call.signal?.aborted) failEntities(run, step, waiting, at, noEntities)
    })
    if (sent.length > 0) takeEntityErrors(run, step, waiting, sent)
  } catch (cause) {
    // No subgraph is at fault, and no other step could answer.
    if (cause instanceof TooMuch) throw cause
    for (const at of step.groups.keys()) failEntities(run, step, waiting, at, cause)
  }
}

/** Whether a subgraph answered an entity or null for each representation that it received. */
const areEntities = (value: unknown, asked: number): value is (Data | null)[] =>
  Array.isArray(value) && value.length >= asked && value.every(entity => entity === null || isData(entity))

/** Collects the representations of one group; equal ones are sent once, across all groups that share a variable. */
function gather(run: Run, group: EntityGroup, byVariable: Map<string, Representations>, rest: Deferral | null): Waiting {
  let representations = byVariable.get(group.representations)
  if (!representations) {
    representations = createRepresentations()
    byVariable.set(group.representations, representations)
  }
  const into = representations
  return group.walks.map((walk, at) => {
    const represent = group.representInto(into, group.types[at] ?? null)
    const waiting: Data[][] = []
    const stream = group.through[at] ?? null
    if (rest && stream !== rest) return waiting
    const alike = group.alike[at]
    const memo = group.memos[at] ?? null
    const found = memo === null ? undefined : run.found.get(memo)
    const finding: Data[] | null = memo === null || found ? null : []
    const visit = (object: Data, owner: Owner | null, key: string | number) => {
      const index = represent(object)
      const targets = index === -1 ? undefined : waiting[index]
      if (targets && targets[0] === object) return
      if (targets && alike && owner) {
        owner[key] = targets[0]
        return
      }
      finding?.push(object)
      if (targets) targets.push(object)
      else if (index !== -1) waiting[index] = [object]
    }
    if (found) for (const object of found) visit(object, null, 0)
    // Other fetches may require the whole list.
    else if (stream) withElements({ ...run, streams: run.streams?.filter(each => each.stream === stream) }, rest, () => walk(run.data, visit))
    else walk(run.data, visit)
    if (memo !== null && finding) run.found.set(memo, finding)
    return waiting
  })
}

/**
 * Merges the fetched entities into the waiting objects. Objects at one path may share an entity's values, because later
 * steps treat all objects of a path alike; objects at another path get a copy.
 */
function takeEntities(run: Run, { merger, sharesValues }: EntityGroup, waiting: Waiting, asked: readonly Data[], entities: readonly (Data | null)[]): void {
  const taken = merger.hasObjects && waiting.length > 1 ? new Set<number>() : null
  const elements = countElements()
  for (const atPath of waiting) {
    atPath.forEach((targets, index) => {
      let entity = entities[index]
      if (!entity) {
        for (const target of targets) run.missing.set(target, asked[index]!)
        return
      }
      if (taken?.has(index)) entity = merger.copy(entity, elements)
      else taken?.add(index)
      // An object reached by several paths waits once for each.
      let isFirst = true
      for (const target of merger.hasObjects && targets.length > 2 ? new Set(targets) : targets) {
        merger.take(target, sharesValues || isFirst ? entity : merger.copy(entity, elements), elements)
        isFirst = false
      }
    })
  }
}

/**
 * Reports the errors of entities at the paths of the objects that wait for them; an error without a path concerns all.
 */
function takeEntityErrors(run: Run, step: EntityStep, waiting: readonly Waiting[], errors: readonly GraphQLError[]): void {
  const stands = step.groups.map(() => null as Whereabouts | null)
  for (const error of errors) {
    const [key, index, ...tail] = pathOf(error) ?? []
    const named = step.groups.findIndex(group => group.key === key)
    const concerned = named === -1 ? step.groups.keys() : [named]
    for (const at of concerned) {
      const group = step.groups[at]!
      const found = named !== -1 && typeof index === 'number' ? waiting[at]!.flatMap(atPath => atPath[index] ?? []) : []
      stands[at] ??= whereabouts(run, group)
      const places = found.length > 0 ? placesOf(group, found, stands[at], tail) : placesOf(group, waiting[at]!.flat(2), stands[at])
      if (places.length > 0) run.failures.push({ subgraph: step.fetch.subgraph, error, cause: null, places, renames: renamesOf(group.rewrites) })
    }
  }
}

/** Paths of the objects that wait for entities: the data is searched once, and only after a failure. */
type Whereabouts = ReadonlyMap<Data, readonly Place[]>

function whereabouts(run: Run, group: EntityGroup): Whereabouts {
  const found = new Map<Data, Place[]>()
  const elements = countElements()
  for (const path of group.paths) {
    visitTargets(
      run.data,
      path,
      run.supergraph,
      elements,
      (object, place) => {
        const known = found.get(object)
        if (!known) found.set(object, [place!])
        else if (known.length < mostPlaces) known.push(place!)
      },
      [],
    )
  }
  return found
}

/**
 * Paths of a failed entity field. Without a tail in the error's path, the only field of the fetch is the one that
 * failed.
 */
function placesOf(group: EntityGroup, objects: readonly Data[], stands: Whereabouts, tail: Place = []): Place[] {
  const end = tail.length === 0 && group.keys.length === 1 ? group.keys : tail
  const places: Place[] = []
  for (const object of objects) {
    for (const place of stands.get(object) ?? []) {
      if (places.length === mostPlaces) return places
      places.push([...place, ...end])
    }
  }
  return places
}

/**
 * Restores field names where two types of one fetch could not share a name. It runs after the last fetch, because later
 * fetches still read values under the inner name.
 */
function renameOutputs(run: Run, step: Step): void {
  if (step.kind === 'sequence' || step.kind === 'parallel' || step.kind === 'flow') {
    for (const inner of step.steps) renameOutputs(run, inner)
  } else if (step.kind === 'fetch') {
    for (const rewrite of step.rewrites) applyRewrite(run.data, rewrite, run.supergraph)
  } else {
    for (const group of step.groups) {
      if (group.rewrites.length === 0) continue
      const elements = countElements()
      for (const path of group.paths) {
        visitTargets(run.data, path, run.supergraph, elements, object => {
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

/** Selects the variables that a fetch uses. Absent variables stay absent: resolvers distinguish absent from null. */
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
const noEntities = new Error('The subgraph did not answer an entity, or null, for each that it was asked for')

/** Reads the errors of a subgraph's answer, ignoring entries without the form of an error. */
function errorsOf(errors: unknown): readonly GraphQLError[] {
  if (!Array.isArray(errors)) return []
  return errors.filter((error): error is GraphQLError => isData(error))
}

function pathOf(error: GraphQLError): Place | null {
  const path: unknown = error.path
  return Array.isArray(path) && path.length > 0 ? path : null
}
