import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSchema, type DocumentNode, Kind, parse, Source } from 'graphql'
import { lineOf } from '../../start-error.ts'
import { apiFile, releasedFile } from '../compose.ts'
import { at, inFile, type Mistake } from '../source/mistake.ts'
import { type BreakingChange, breakingBetween } from './changes.ts'
import { clientsInWords, judge } from './judge.ts'
import { openRecord } from './record.ts'

/**
 * Lists what a client of the released API schema would lose or have to change: each breaking change with its place in
 * the released schema. Additions and merely dangerous changes (a new enum value) pass.
 */
export async function breakingChanges(root: string): Promise<readonly Mistake[]> {
  const { mistakes, changes, document } = await compare(root)
  return [...mistakes, ...changes.map(change => mistakeOf(document, change))]
}

/** Breaking changes of the API schema that clients would notice, by the recorded use. */
export interface JudgedChanges {
  /** Changes that are in use, with their clients; all of them where no database answers. */
  readonly mistakes: readonly Mistake[]
  /** What was decided by use, in a sentence; null where there was nothing to decide. */
  readonly sentence: string | null
}

/** Days of recorded use that decide. */
const judgedDays = 30

/** Lists breaking changes as `breakingChanges`, without those that no client used in thirty days, where a database knows. */
export async function noticedChanges(root: string): Promise<JudgedChanges> {
  const { mistakes, changes, document } = await compare(root)
  if (changes.length === 0) return { mistakes, sentence: null }
  await using stack = new AsyncDisposableStack()
  try {
    const { since, firstDay, store } = await openRecord(judgedDays, stack)
    const judged = judge(changes, await store.touching(firstDay, [...new Set(changes.flatMap(({ touches }) => touches ?? []))]))
    const used = judged.filter(each => each.used)
    const noticed = used.map(({ change, clients }) => {
      const mistake = mistakeOf(document, change)
      return clients.length === 0 ? mistake : { ...mistake, text: `${mistake.text} Used by ${clientsInWords(clients)}.` }
    })
    const passed = judged.filter(each => !each.used).map(({ change }) => `${change.kind} ${change.coordinate}`)
    const named = passed.length === 0 ? '' : ` (${passed.join(', ')})`
    const sentence = `${judged.length} breaking changes by use since ${since.toISOString().slice(0, 10)}: ${used.length} in use, ${passed.length} unused${named}`
    return { mistakes: [...mistakes, ...noticed], sentence }
  } catch (error) {
    const all = changes.map(change => mistakeOf(document, change))
    return { mistakes: [...mistakes, ...all], sentence: `every breaking change counts, because use is not known: ${lineOf(error)}` }
  }
}

/** Compares the released API schema with the generated one. */
async function compare(root: string): Promise<{
  readonly mistakes: readonly Mistake[]
  readonly changes: readonly BreakingChange[]
  /** The released schema. */
  readonly document: DocumentNode
}> {
  const [released, current] = await Promise.all([releasedFile, apiFile].map(file => readFile(join(root, file), 'utf8').catch(() => null)))
  const empty: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] }
  const missing = (mistake: Mistake) => ({ mistakes: [mistake], changes: [], document: empty })
  if (!released)
    return missing(
      inFile(releasedFile, 'NOTHING_RELEASED', 'there is no released API schema to compare with: npm run schema:accept makes the present one the first'),
    )
  if (!current) return missing(inFile(apiFile, 'FILE_MISSING', 'there is no API schema: npm run generate makes it'))
  return { mistakes: [], changes: await breakingBetween(buildSchema(released), buildSchema(current)), document: parse(new Source(released, releasedFile)) }
}

const mistakeOf = (document: DocumentNode, { path, message, reason }: BreakingChange): Mistake => atPath(document, path, `${message}. ${reason ?? ''}`.trim())

function atPath(document: DocumentNode, path: string | undefined, text: string): Mistake {
  const [typeName, member] = path?.split('.') ?? []
  const type = document.definitions.find(node => 'name' in node && node.name?.value === typeName)
  const members = type && 'fields' in type ? type.fields : type && 'values' in type ? type.values : undefined
  const place = members?.find(({ name }) => name.value === member)?.loc ?? type?.loc
  return place ? at(place, 'BREAKING_CHANGE', text) : inFile(releasedFile, 'BREAKING_CHANGE', text)
}
