import { type DocumentNode, print } from 'graphql'
import type { Fetch } from '../engine.ts'
import type { Path } from './plan-tree.ts'
import type { CompiledPlan, EntityStep, FetchStep, Step } from './step.ts'

/** A fetch, and the positions of the fetches that must finish before it begins. */
interface Placed {
  readonly step: FetchStep | EntityStep
  readonly after: readonly number[]
}

/**
 * Describes a plan for people: its fetches in the order in which they may begin, numbered, each with its subgraph, the
 * fetches that it waits for, the paths whose entities it completes, and the document. Fetches with the same
 * dependencies begin at the same time.
 * @param write formats a document
 */
export function planInWords({ primary, root }: CompiledPlan, nameOf: (key: string) => string, write: (document: DocumentNode) => string = print): string {
  const placed = placedIn({ primary, root })
  if (placed.length === 0) return 'No subgraph is asked.'
  return placed.map((each, at) => `${at + 1}. ${headOf(each, placed, nameOf)}\n${bodyOf(each, write)}`).join('\n')
}

/** Returns the fetches of a plan. */
export const fetchesOf = (plan: Pick<CompiledPlan, 'primary' | 'root'>): readonly Fetch[] => placedIn(plan).map(({ step }) => step.fetch)

function placedIn({ primary, root }: Pick<CompiledPlan, 'primary' | 'root'>): Placed[] {
  const placed: Placed[] = primary ? [{ step: primary, after: [] }] : []
  if (root) place(root, placed.keys().toArray(), placed)
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
        return placed.push({ step: inner, after: waits.length > 0 ? waits : earlier }) - 1
      })
    }
    default:
      return [placed.push({ step, after: earlier }) - 1]
  }
}

function headOf({ step, after }: Placed, placed: readonly Placed[], nameOf: (key: string) => string): string {
  const { subgraph, kind } = step.fetch
  const what =
    step.kind === 'fetch' ? kind : `entities at ${[...new Set(step.groups.flatMap(({ paths }) => paths.map(path => inWords(path, nameOf))))].join(', ')}`
  const together = placed.flatMap((other, at) => (other.step !== step && String(other.after) === String(after) ? [at + 1] : []))
  const begins = after.length > 0 ? `after ${after.map(at => at + 1).join(' and ')}` : 'at once'
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
