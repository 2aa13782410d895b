import { type DocumentNode, print } from 'graphql'
import type { Fetch } from '../engine.ts'
import type { Path } from './plan-tree.ts'
import type { CompiledPlan, EntityStep, FetchStep, Step } from './step.ts'

/** A fetch, and the positions of the fetches that must finish before it begins. */
interface Placed {
  readonly step: FetchStep | EntityStep
  readonly after: readonly number[]
  /** When it may begin if it waits for no other fetch. */
  readonly begins: 'at once' | 'after the first payload'
}

/**
 * Describes a plan for people: its fetches in the order in which they may begin, numbered, each with its subgraph, the
 * fetches that it waits for, the paths whose entities it completes, and the document. Fetches with the same
 * dependencies begin at the same time. Fetches that only deferred fragments need stand below `Defer(label, path)`; they
 * begin after the first payload.
 * @param write formats a document
 */
export function planInWords(
  { primary, root, deferred }: CompiledPlan,
  nameOf: (key: string) => string,
  write: (document: DocumentNode) => string = print,
): string {
  const first = placedIn({ primary, root })
  const later = deferred.map(({ step, after }): Placed => ({ step, after: after.map(at => first.length + at), begins: 'after the first payload' }))
  const placed = [...first, ...later]
  if (placed.length === 0) return 'No subgraph is asked.'
  const written = placed.map((each, at) => `${at + 1}. ${headOf(each, placed, nameOf)}\n${bodyOf(each, write)}`)
  return [...written.slice(0, first.length), ...deferralsInWords(deferred, written, first.length)].join('\n')
}

/** Writes the fetches of each deferred fragment; one that serves several is written with the first of them. */
function deferralsInWords(deferred: CompiledPlan['deferred'], written: readonly string[], from: number): string[] {
  const deferrals = [...new Set(deferred.flatMap(step => step.for))].sort((one, other) => one.id - other.id)
  return deferrals.flatMap(deferral => {
    const own = deferred.flatMap((step, at) => (step.for[0] === deferral ? [written[from + at]!] : []))
    const shared = deferred.flatMap((step, at) => (step.for.includes(deferral) && step.for[0] !== deferral ? [`with ${from + at + 1}`] : []))
    const head = `${deferral.initialCount === null ? 'Defer' : 'Stream'}(${deferral.label === null ? 'no label' : JSON.stringify(deferral.label)}, ${deferral.path.join('.') || 'root'})`
    return [`${head}${shared.length > 0 ? `, ${shared.join(', ')}` : ''}`, ...own]
  })
}

/** Returns the fetches of a plan, those of deferred fragments included. */
export const fetchesOf = (plan: CompiledPlan): readonly Fetch[] => [...placedIn(plan), ...plan.deferred].map(({ step }) => step.fetch)

const atOnce = 'at once'

function placedIn({ primary, root }: Pick<CompiledPlan, 'primary' | 'root'>): Placed[] {
  const placed: Placed[] = primary ? [{ step: primary, after: [], begins: atOnce }] : []
  if (root) place(root, [...placed.keys()], placed)
  return placed
}

/** @returns positions of the fetches that have finished when the step has */
function place(step: Step, earlier: readonly number[], placed: Placed[]): readonly number[] {
  switch (step.kind) {
    case 'sequence': {
      // A step that waits for this one also waits for all that this one waits for.
      let last = earlier
      for (const inner of step.steps) last = place(inner, last, placed)
      return last
    }
    case 'parallel':
      return step.steps.flatMap(inner => place(inner, earlier, placed))
    case 'flow': {
      const first = placed.length
      return step.steps.map((inner, at) => {
        const waits = step.after[at]!.map(before => first + before)
        return placed.push({ step: inner, after: waits.length > 0 ? waits : earlier, begins: atOnce }) - 1
      })
    }
    default:
      return [placed.push({ step, after: earlier, begins: atOnce }) - 1]
  }
}

function headOf({ step, after, begins: first }: Placed, placed: readonly Placed[], nameOf: (key: string) => string): string {
  const { subgraph, kind } = step.fetch
  const what =
    step.kind === 'fetch' ? kind : `entities at ${[...new Set(step.groups.flatMap(({ paths }) => paths.map(path => inWords(path, nameOf))))].join(', ')}`
  const together = placed.flatMap((other, at) => (other.step !== step && other.begins === first && String(other.after) === String(after) ? [at + 1] : []))
  const begins = after.length > 0 ? `after ${after.map(at => at + 1).join(' and ')}` : first
  return `${subgraph}, ${begins}${together.length > 0 ? `, beside ${together.join(' and ')}` : ''}: ${what}`
}

const bodyOf = ({ step }: Placed, write: (document: DocumentNode) => string): string => write(step.fetch.document).trim().replaceAll(/^/gm, '     ')

/**
 * Writes a path as `posts.nodes.@.author`: `@` stands for each element of a list, `|[…]` for objects of certain types
 * only.
 */
const inWords = (path: Path, nameOf: (key: string) => string): string =>
  path
    .map(segment => (segment === '@' ? '.@' : 'Field' in segment ? `.${nameOf(segment.Field)}` : `|[${segment.TypeCondition.join(' ')}]`))
    .join('')
    .replace(/^\./, '')
