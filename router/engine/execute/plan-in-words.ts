import { type DocumentNode, print } from 'graphql'
import type { Path } from './plan-tree.ts'
import type { CompiledPlan, EntityStep, FetchStep, Step } from './step.ts'

/** A fetch, and where those stand in the list that are through before it begins. */
interface Placed {
  readonly step: FetchStep | EntityStep
  readonly after: readonly number[]
}

/**
 * A plan as people read it: its fetches in the order in which they may begin, numbered, each with its subgraph, the fetches that it waits
 * for, the places whose entities it completes, and what is sent. What waits for the same begins at the same time.
 * @param write puts a document that is sent into words
 */
export function planInWords({ primary, root }: CompiledPlan, nameOf: (key: string) => string, write: (document: DocumentNode) => string = print): string {
  const placed: Placed[] = primary ? [{ step: primary, after: [] }] : []
  if (root) place(root, placed.keys().toArray(), placed)
  if (placed.length === 0) return 'No subgraph is asked.'
  return placed.map((each, at) => `${at + 1}. ${headOf(each, placed, nameOf)}\n${bodyOf(each, write)}`).join('\n')
}

/** @returns where those fetches stand that are through when the step is */
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

/** `posts.nodes.@.author`: `@` stands for each element of a list, `|[…]` for objects of these types alone. */
const inWords = (path: Path, nameOf: (key: string) => string): string =>
  path
    .map(segment => (segment === '@' ? '.@' : 'Field' in segment ? `.${nameOf(segment.Field)}` : `|[${segment.TypeCondition.join(' ')}]`))
    .join('')
    .replace(/^\./, '')
