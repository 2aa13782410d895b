import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSchema, type DocumentNode, parse, Source } from 'graphql'
import { lineOf } from '../../start-error.ts'
import { apiFile, releasedFile } from '../compose.ts'
import { at, inFile, type Mistake } from '../source/mistake.ts'
import { variantFile, variantReleasedFile, variantsFolder } from '../variants.ts'
import { type BreakingChange, breakingBetween } from './changes.ts'
import { clientsInWords, judge } from './judge.ts'
import { openRecord } from './record.ts'

/** A released schema, and the generated one that has to keep what it promises. */
export interface SchemaContract {
  readonly released: string
  readonly current: string
  /** Name of the variant; null for the whole graph. */
  readonly variant: string | null
}

/** Returns the schemas that clients rely on: of the whole graph, and of each variant that was generated or released. */
export async function contractsOf(root: string): Promise<readonly SchemaContract[]> {
  const files = await readdir(join(root, variantsFolder)).catch(() => [])
  const names = new Set(files.flatMap(file => /^([a-z][a-z0-9-]*)(?:\.released)?\.graphql$/.exec(file)?.[1] ?? []))
  const ofVariants = [...names].sort().map(variant => ({ released: variantReleasedFile(variant), current: variantFile(variant), variant }))
  return [{ released: releasedFile, current: apiFile, variant: null }, ...ofVariants]
}

/**
 * Lists what a client of the released API schema, or of a variant's, would lose or have to change: each breaking change with its place in
 * the released schema. Additions and merely dangerous changes (a new enum value) pass.
 */
export async function breakingChanges(root: string): Promise<readonly Mistake[]> {
  const { mistakes, changes } = await compare(root)
  return [...mistakes, ...changes.map(mistakeOf)]
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
  const { mistakes, changes } = await compare(root)
  if (changes.length === 0) return { mistakes, sentence: null }
  await using stack = new AsyncDisposableStack()
  try {
    const { since, firstDay, store } = await openRecord(judgedDays, stack)
    const judged = judge(changes, await store.touching(firstDay, [...new Set(changes.flatMap(({ touches }) => touches ?? []))]))
    const used = judged.filter(each => each.used)
    const noticed = used.map(({ change, clients }) => {
      const mistake = mistakeOf(change)
      return clients.length === 0 ? mistake : { ...mistake, text: `${mistake.text} Used by ${clientsInWords(clients)}.` }
    })
    const passed = judged.filter(each => !each.used).map(({ change }) => `${change.kind} ${change.coordinate}`)
    const named = passed.length === 0 ? '' : ` (${passed.join(', ')})`
    const sentence = `${judged.length} breaking changes by use since ${since.toISOString().slice(0, 10)}: ${used.length} in use, ${passed.length} unused${named}`
    return { mistakes: [...mistakes, ...noticed], sentence }
  } catch (error) {
    return { mistakes: [...mistakes, ...changes.map(mistakeOf)], sentence: `every breaking change counts, because use is not known: ${lineOf(error)}` }
  }
}

/** A breaking change, with the released schema that promised otherwise. */
interface PlacedChange extends BreakingChange {
  readonly document: DocumentNode
  readonly contract: SchemaContract
}

interface Comparison {
  readonly mistakes: readonly Mistake[]
  readonly changes: readonly PlacedChange[]
}

/** Compares the released schemas with the generated ones. */
async function compare(root: string): Promise<Comparison> {
  const compared = await Promise.all((await contractsOf(root)).map(contract => compareOne(root, contract)))
  return { mistakes: compared.flatMap(({ mistakes }) => mistakes), changes: compared.flatMap(({ changes }) => changes) }
}

async function compareOne(root: string, contract: SchemaContract): Promise<Comparison> {
  const [released, current] = await Promise.all([contract.released, contract.current].map(file => readFile(join(root, file), 'utf8').catch(() => null)))
  const missing = (mistake: Mistake): Comparison => ({ mistakes: [mistake], changes: [] })
  const what = contract.variant === null ? 'API schema' : `schema of the variant ${contract.variant}`
  const first = contract.variant === null ? 'schema:accept' : 'schema:release'
  if (!released)
    return missing(
      inFile(contract.released, 'NOTHING_RELEASED', `there is no released ${what} to compare with: npm run ${first} makes the present one the first`),
    )
  if (!current)
    return contract.variant === null
      ? missing(inFile(apiFile, 'FILE_MISSING', 'there is no API schema: npm run generate makes it'))
      : missing(inFile(contract.released, 'BREAKING_CHANGE', `Variant ${contract.variant} was removed, with everything that its clients use.`))
  const document = parse(new Source(released, contract.released))
  const changes = await breakingBetween(buildSchema(released), buildSchema(current))
  return { mistakes: [], changes: changes.map(change => ({ ...change, document, contract })) }
}

const mistakeOf = ({ document, contract, path, message, reason }: PlacedChange): Mistake =>
  atPath(document, contract, path, `${message}. ${reason ?? ''}`.trim())

function atPath(document: DocumentNode, { released }: SchemaContract, path: string | undefined, text: string): Mistake {
  const [typeName, member] = path?.split('.') ?? []
  const type = document.definitions.find(node => 'name' in node && node.name?.value === typeName)
  const members = type && 'fields' in type ? type.fields : type && 'values' in type ? type.values : undefined
  const place = members?.find(({ name }) => name.value === member)?.loc ?? type?.loc
  return place ? at(place, 'BREAKING_CHANGE', text) : inFile(released, 'BREAKING_CHANGE', text)
}
