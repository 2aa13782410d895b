import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMap, isScalar, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml'
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

/** The version of composition that the file requires, and its subgraphs in their order. */
export interface SupergraphYaml {
  readonly federationVersion: string
  readonly subgraphs: readonly ListedSubgraph[]
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

  const top = entries(document.contents, file, ['federation_version', 'subgraphs'])
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
  if (mistakes.length > 0) throw new Mistakes(mistakes)
  return { federationVersion, subgraphs }
}
