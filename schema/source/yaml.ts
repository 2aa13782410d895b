import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml'
import type { VariantRule } from '../../router/engine/graph/variants.ts'
import { type Mistake, Mistakes } from './mistake.ts'

const file = 'supergraph.yaml'

/** A subgraph in `supergraph.yaml`. */
export interface ListedSubgraph {
  readonly slug: string
  /** Address of the subgraph in distributed mode; the subgraph listens on its port. */
  readonly routingUrl: string
  /** Path of its joined SDL from the project's root. */
  readonly schemaFile: string
}

/** The version of composition that the file requires, and its subgraphs and variants in their order. */
export interface SupergraphYaml {
  readonly federationVersion: string
  readonly subgraphs: readonly ListedSubgraph[]
  readonly variants: readonly ListedVariant[]
}

/** A variant in `supergraph.yaml`, which is an addition to rover's format. */
export interface ListedVariant {
  readonly name: string
  readonly rule: VariantRule
  /** Line of its name, from 1. */
  readonly line: number
}

const unserved: Readonly<Record<string, string>> = {
  subgraph_url: 'is introspection of a running subgraph: composition here works from files alone, so name the SDL with schema.file',
  graphref: 'asks a registry for the schema: composition here works from files alone, so name the SDL with schema.file',
  subgraph: 'belongs to graphref, which asks a registry: name the SDL with schema.file',
  sdl: 'writes the schema into this file: put it into a noun folder of the subgraph and name the joined SDL with schema.file',
}

/**
 * Reads `supergraph.yaml` in the format of Apollo's rover
 * (https://www.apollographql.com/docs/rover/commands/supergraphs), as far as composition from files needs it.
 * @throws Mistakes for a missing or malformed file, for unsupported keys, and for `${env.…}`, which would otherwise
 * appear literally in the supergraph
 */
export async function readSupergraphYaml(root: string): Promise<SupergraphYaml> {
  const text = await readFile(join(root, file), 'utf8').catch(() => null)
  const lines = new LineCounter()
  const mistakes: Mistake[] = []
  const mistake = (offset: number, code: string, sentence: string): void => {
    const { line, col } = lines.linePos(offset)
    mistakes.push({ file, line: Math.max(line, 1), column: Math.max(col, 1), code, text: sentence })
  }
  if (text === null) throw new Mistakes([{ file, line: 1, column: 1, code: 'FILE_MISSING', text: 'there is no such file: it lists the subgraphs to compose' }])

  const document = parseDocument(text, { lineCounter: lines })
  for (const error of document.errors) mistake(error.pos[0], 'YAML_SYNTAX', error.message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, ''))
  if (mistakes.length > 0) throw new Mistakes(mistakes)
  for (const found of text.matchAll(/\$\{env\b[^}]*\}/g)) {
    const sentence = `${found[0]} is not expanded here: write the value, and override the address of a subgraph with <SLUG>_URL when the router starts`
    mistake(found.index, 'ENVIRONMENT_NOT_EXPANDED', sentence)
  }

  const entries = (map: unknown, where: string, known: readonly string[]): Map<string, Pair<unknown, unknown>> => {
    if (!isMap(map)) {
      mistake(0, 'YAML_SHAPE', `${where} must be a map of ${known.length > 0 ? known.join(', ') : 'names'}`)
      return new Map()
    }
    return new Map(
      (map as YAMLMap).items.map(pair => {
        const name = String(isScalar(pair.key) ? pair.key.value : pair.key)
        const offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
        if (known.length > 0 && !known.includes(name))
          mistake(offset, 'KEY_NOT_SERVED', `${where}.${name} ${unserved[name] ?? `is not known: expected ${known.join(', ')}`}`)
        return [name, pair]
      }),
    )
  }
  const string = (map: Map<string, Pair<unknown, unknown>>, key: string, where: string): string => {
    const value = map.get(key)?.value
    if (isScalar(value) && typeof value.value === 'string' && value.value !== '') return value.value
    mistake(isScalar(value) ? (value.range?.[0] ?? 0) : 0, 'YAML_SHAPE', `${where}.${key} must be a text`)
    return ''
  }

  const top = entries(document.contents, file, ['federation_version', 'subgraphs', 'variants'])
  const federationVersion = string(top, 'federation_version', file)
  const subgraphs = [...entries(top.get('subgraphs')?.value, 'subgraphs', [])].map(([slug, pair]): ListedSubgraph => {
    const subgraph = entries(pair.value, `subgraphs.${slug}`, ['routing_url', 'schema'])
    const routingUrl = string(subgraph, 'routing_url', `subgraphs.${slug}`)
    const schema = entries(subgraph.get('schema')?.value, `subgraphs.${slug}.schema`, ['file'])
    const served = !mistakes.some(({ code }) => code === 'KEY_NOT_SERVED') || schema.has('file')
    const schemaFile = served ? string(schema, 'file', `subgraphs.${slug}.schema`) : ''
    const place = isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
    const wanted = `schema/subgraphs/${slug}.graphql`
    if (!/^[a-z][a-z0-9]*$/.test(slug))
      mistake(place, 'YAML_SHAPE', `subgraphs.${slug} is no slug: lower-case letters and digits, for hosts, SQL and variables`)
    if (routingUrl && !routingUrl.includes('${') && !URL.canParse(routingUrl))
      mistake(place, 'YAML_SHAPE', `subgraphs.${slug}.routing_url must be an address, like http://localhost:4001/graphql`)
    if (schemaFile && schemaFile !== wanted) mistake(place, 'SCHEMA_FILE', `subgraphs.${slug}.schema.file must be ${wanted}: the subgraph loads it from there`)
    return { slug, routingUrl, schemaFile }
  })
  for (const [index, { slug, routingUrl }] of subgraphs.entries()) {
    const other = subgraphs.slice(0, index).find(each => each.routingUrl === routingUrl)
    if (other && routingUrl)
      mistake(text.lastIndexOf(routingUrl), 'ROUTING_URL_TAKEN', `subgraphs.${slug}.routing_url is that of ${other.slug}: take the next port`)
  }
  const variants = top.has('variants') ? readVariants(top.get('variants')!, { entries, mistake, lineOf: offset => lines.linePos(offset).line }) : []
  if (mistakes.length > 0) throw new Mistakes(mistakes)
  return { federationVersion, subgraphs, variants }
}

type Pairs = Map<string, Pair<unknown, unknown>>

/** How the parts of the file are read, and mistakes noted. */
interface Reading {
  entries(map: unknown, where: string, known: readonly string[]): Pairs
  mistake(offset: number, code: string, sentence: string): void
  lineOf(offset: number): number
}

/** Names of variants: a part of addresses and file names. */
const variantName = /^[a-z][a-z0-9-]{0,31}$/
/** Names of tags, as composition takes them. */
const tagName = /^[A-Za-z0-9_/-]{1,128}$/

function readVariants({ value }: Pair<unknown, unknown>, { entries, mistake, lineOf }: Reading): readonly ListedVariant[] {
  return [...entries(value, 'variants', [])].map(([name, pair]): ListedVariant => {
    const where = `variants.${name}`
    const place = offsetOf(pair.key)
    const rule = entries(pair.value, where, ['include', 'exclude', 'hideUnreachableTypes'])
    const tags = (key: 'include' | 'exclude'): readonly string[] | undefined => {
      const found = rule.get(key)
      if (!found) return undefined
      const listed = isSeq(found.value) ? found.value.items.map(item => (isScalar(item) ? item.value : null)) : []
      const wrong = listed.find(tag => typeof tag !== 'string' || !tagName.test(tag))
      if (listed.length === 0 || wrong !== undefined)
        mistake(offsetOf(found.key), 'YAML_SHAPE', `${where}.${key} must be a list of tags, such as [public]: letters, digits, "_", "-" and "/"`)
      return listed as readonly string[]
    }
    const [include, exclude] = [tags('include'), tags('exclude')]
    const hide = rule.get('hideUnreachableTypes')
    const hideUnreachableTypes = hide && isScalar(hide.value) ? hide.value.value : undefined
    if (hide && typeof hideUnreachableTypes !== 'boolean') mistake(offsetOf(hide.key), 'YAML_SHAPE', `${where}.hideUnreachableTypes must be true or false`)
    if (!variantName.test(name))
      mistake(
        place,
        'YAML_SHAPE',
        `${where} is no name of a variant: at most 32 small letters, digits and "-", the first one a letter, for addresses and files`,
      )
    if (rule.size > 0 && !include && !exclude)
      mistake(place, 'YAML_SHAPE', `${where} needs include or exclude, each a list of tags: without them it would show the whole graph`)
    return { name, rule: { include, exclude, hideUnreachableTypes: hideUnreachableTypes as boolean | undefined }, line: lineOf(place) }
  })
}

const offsetOf = (key: unknown): number => (isScalar(key) ? (key.range?.[0] ?? 0) : 0)
