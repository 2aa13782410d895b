import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  parse,
} from 'graphql'
import { escaped } from '../../subgraphs/http/html.ts'
import { type AccessTable, type Requirement, readAccessTable } from '../access/rules.ts'
import { doorRefusal } from '../door/errors.ts'
import { prefersHtml } from '../door/headers.ts'
import { sendRefusalPage } from '../door/landing.ts'
import type { Variants } from '../engine/graph/variants.ts'
import { type Costs, readCosts } from '../engine/operation/cost/costs.ts'
import { deprecationsFile, readDeprecationDays } from '../metrics/usage/deprecations.ts'
import { createUseReader, type ShownUse, type UseSentences } from './graph-use.ts'
import type { SendPage } from './layout.ts'
import { exampleOf } from './operation-example.ts'

const file = new URL('../../schema/supergraph.graphql', import.meta.url)
const daysFile = new URL(`../../${deprecationsFile}`, import.meta.url)
const roots = ['Query', 'Mutation', 'Subscription'] as const

/** The graph of a reference. */
export interface ReferenceGraph {
  readonly schema: GraphQLSchema
  /** Its variants, each with a reference of its own at `/docs/graph/<name>`. @default none */
  readonly variants?: Variants | undefined
}

/**
 * Serves the reference of the graph: an overview at `/docs/graph`, and a page for each type with its access rules. It
 * is generated from the clients' schema and the supergraph's rules.
 * @param use what clients use, for those who may see it @default not shown
 */
export function serveGraphReference(app: FastifyInstance, { schema, variants }: ReferenceGraph, sendPage: SendPage, use?: ShownUse): void {
  let rules: Rules | undefined
  const known = (): Rules => {
    if (rules) return rules
    const sdl = readFileSync(file, 'utf8')
    rules = { access: readAccessTable(sdl), costs: readCosts(parse(sdl, { noLocation: true })), days: deprecationDays() }
    return rules
  }
  const names = variants?.names ?? []
  serveReferenceOf(app, { schemaOf: () => schema, variant: null, names, known, use }, sendPage)
  for (const variant of names) serveReferenceOf(app, { schemaOf: () => variants!.schemaOf(variant)!, variant, names: [], known, use }, sendPage)
}

/** One reference: of the whole graph, or of a variant. */
interface Reference {
  /** Name of the variant; null for the whole graph. */
  readonly variant: string | null
  /** Names of the variants that the overview lists. */
  readonly names: readonly string[]
  schemaOf(): GraphQLSchema
  known(): Rules
  readonly use: ShownUse | undefined
}

function serveReferenceOf(app: FastifyInstance, { variant, names, schemaOf, known, use }: Reference, sendPage: SendPage): void {
  const home = variant === null ? '/docs/graph' : `/docs/graph/${variant}`
  // Pages link to the reference and the explorer of the whole graph; text cannot contain what begins a link.
  const within = (content: string) =>
    variant === null ? content : content.replaceAll('href="/docs/graph', `href="${home}`).replaceAll('href="/explorer', `href="/explorer/${variant}`)
  const kept = new Map<string, string>()
  const once = (name: string, make: () => string): string => {
    const content = kept.get(name) ?? within(make())
    kept.set(name, content)
    return content
  }
  app.get(home, async (_request, reply) => {
    const title = variant === null ? 'Graph' : `Graph: ${variant}`
    return sendPage(reply, { title, content: once('', () => overview(schemaOf(), known(), { variant, names })) }, home)
  })
  const readUse = use && createUseReader(use)
  app.get<{ Params: { name: string } }>(`${home}/:name`, async (request, reply) => {
    const { name } = request.params
    const schema = schemaOf()
    const type = schema.getType(name)
    if (!type || isIntrospectionType(type)) {
      const sentence = `The graph has no type of this name: ${home} lists those that it has.`
      if (prefersHtml(request.headers.accept)) return sendRefusalPage(reply, 404, sentence)
      throw doorRefusal(404, sentence)
    }
    const used = readUse && use.isShownTo(request) ? await readUse(name, membersOf(type)) : undefined
    const content = used === undefined ? once(name, () => typePage(type, schema, known())) : within(typePage(type, schema, known(), used))
    return sendPage(reply, { title: name, content }, `${home}/${name}`)
  })
}

/** Coordinates of a type that its page shows use of. */
const membersOf = (type: GraphQLNamedType): readonly string[] => [
  ...(isEnumType(type) ? type.getValues() : []).map(({ name }) => `${type.name}.${name}`),
  ...('getFields' in type ? Object.keys(type.getFields()) : []).map(name => `${type.name}.${name}`),
]

function deprecationDays(): ReadonlyMap<string, string> {
  try {
    return readDeprecationDays(readFileSync(daysFile, 'utf8'))
  } catch {
    return new Map()
  }
}

/** The supergraph's rules that the reference shows. */
interface Rules {
  readonly access: AccessTable
  readonly costs: Costs
  /** The day on which each deprecation was first generated, by coordinate. */
  readonly days: ReadonlyMap<string, string>
}

const typesOf = (schema: GraphQLSchema): readonly GraphQLNamedType[] =>
  Object.values(schema.getTypeMap())
    .filter(type => !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !(roots as readonly string[]).includes(type.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))

const kinds: readonly (readonly [title: string, is: (type: GraphQLNamedType) => boolean])[] = [
  ['Objects', type => isObjectType(type) && !/(?:Connection|Edge)$/.test(type.name)],
  ['Inputs', isInputObjectType],
  ['Enums', isEnumType],
  ['Unions', isUnionType],
  ['Scalars', isScalarType],
  ['Pages of lists', type => /(?:Connection|Edge)$/.test(type.name)],
]

function overview(schema: GraphQLSchema, { days }: Rules, { variant, names }: Pick<Reference, 'variant' | 'names'>): string {
  const types = typesOf(schema)
  const root = (name: (typeof roots)[number]) => {
    const fields = fieldsOf(schema.getType(name))
    const row = (field: GraphQLField<unknown, unknown>) =>
      `<tr><th scope="row"><a href="/docs/graph/${name}#${field.name}"><code>${field.name}</code></a></th><td>${firstSentence(field.description)}</td></tr>`
    return fields.length === 0
      ? ''
      : `<h2 id="${name}"><a href="/docs/graph/${name}">${name}</a></h2>\n<div class="wide"><table><tbody>${fields.map(row).join('\n')}</tbody></table></div>`
  }
  const list = ([title, is]: (typeof kinds)[number]) => {
    const found = types.filter(is)
    return found.length === 0 ? '' : `<h2>${title}</h2>\n<ul class="columns">${found.map(({ name }) => `<li>${typeLink(name)}</li>`).join('\n')}</ul>`
  }
  const old = deprecated(schema, days)
  const heading = variant === null ? 'The graph' : `The graph: ${variant}`
  const others = names.map(name => `<a href="/docs/graph/${name}">${name}</a>`).join(', ')
  return `<h1>${heading}</h1>
<p>What can be asked, and by whom: written out of the schema that clients are served and of the rules that stand before it. What a caller may not see is null, with the scopes that would do; the rest of the answer stands.</p>
<p>What an operation costs is estimated before it runs: each object of its answer 1, each mutation 10 more, and lists as long as they are asked for or can be, unless a field says otherwise on its type’s page. With the header <code>x-graphql-cost: show</code> an answer tells <code>extensions.cost</code>: estimated, actual and the most that is allowed.</p>
${names.length > 0 ? `<p>Parts of it for some clients: ${others}.</p>\n` : ''}${roots.map(root).join('\n')}
<h2>Deprecated</h2>
${old.length > 0 ? `<ul>${old.join('\n')}</ul>` : '<p>Nothing.</p>'}
${kinds.map(list).join('\n')}`
}

function deprecated(schema: GraphQLSchema, days: ReadonlyMap<string, string>): readonly string[] {
  const line = (type: GraphQLNamedType, name: string, reason: string) =>
    `<li>${typeLink(type.name)}<code>.${name}</code>: ${escaped(reason)}${sinceDay(days, `${type.name}.${name}`)}</li>`
  const all = [...roots.flatMap(name => schema.getType(name) ?? []), ...typesOf(schema)]
  return all.flatMap(type => [
    ...fieldsOf(type).flatMap(each => (each.deprecationReason ? [line(type, each.name, each.deprecationReason)] : [])),
    ...(isEnumType(type) ? type.getValues() : []).flatMap(each => (each.deprecationReason ? [line(type, each.name, each.deprecationReason)] : [])),
  ])
}

/** @param use in sentences, for a reader who may see it */
function typePage(type: GraphQLNamedType, schema: GraphQLSchema, rules: Rules, use?: UseSentences): string {
  const useOf = (name: string) => use?.(`${type.name}.${name}`) ?? ''
  const parts = [`<h1><code>${type.name}</code></h1>`, prose(type.description)]
  if (use === null) parts.push('<p>What clients use cannot be read at the moment.</p>')
  const own = rules.access.types.get(type.name) ?? []
  if (own.length > 0) parts.push(`<p>${who(own)}</p>`)
  const weight = rules.costs.types.get(type.name)
  if (weight !== undefined) parts.push(`<p>Each costs ${weight}.</p>`)
  if (isEnumType(type))
    parts.push(
      '<h2>Values</h2>',
      definitions(
        type
          .getValues()
          .map(value => [
            `<code id="${value.name}">${value.name}</code>`,
            `${told(value.deprecationReason, rules.days, `${type.name}.${value.name}`)}${prose(value.description)}${useOf(value.name)}`,
          ]),
      ),
    )
  if (isUnionType(type))
    parts.push(
      '<h2>One of</h2>',
      `<ul>${type
        .getTypes()
        .map(({ name }) => `<li>${typeLink(name)}</li>`)
        .join('\n')}</ul>`,
    )
  if (isScalarType(type) && type.specifiedByURL)
    parts.push(`<p>Specified at <a href="${escaped(type.specifiedByURL)}">${escaped(type.specifiedByURL)}</a>.</p>`)
  const fields = isInputObjectType(type) ? Object.values(type.getFields()) : fieldsOf(type)
  if (fields.length > 0) parts.push('<h2>Fields</h2>', definitions(fields.map(field => fieldEntry(type.name, field, rules, useOf(field.name)))))
  const users = usersOf(type, schema)
  if (users.length > 0) parts.push('<h2>Where it is used</h2>', `<ul class="columns">${users.map(each => `<li>${each}</li>`).join('\n')}</ul>`)
  return parts.filter(Boolean).join('\n')
}

/** Returns the cost that the graph declares for a field; '' for the default cost. */
function costOf(coordinate: string, isInput: boolean, { fields, lists, inputs }: Costs): string {
  const weight = (isInput ? inputs : fields).get(coordinate)
  const list = lists.get(coordinate)
  const sentences = weight === undefined ? [] : [`Costs ${weight}.`]
  if (list) {
    const slicing = list.slicing.map(way => `<code>${escaped(way.join('.'))}</code>`).join(' or ')
    const where = list.sized.size > 0 ? ` in ${[...list.sized].map(name => `<code>${escaped(name)}</code>`).join(', ')}` : ''
    const length = [...(slicing ? [`as many as ${slicing} says`] : []), ...(list.assumed === null ? [] : [`${slicing ? 'else ' : ''}${list.assumed}`])]
    sentences.push(`Counts ${length.join(', ')}${where}.`)
  }
  return sentences.length > 0 ? `<p>${sentences.join(' ')}</p>` : ''
}

function fieldEntry(
  typeName: string,
  field: GraphQLField<unknown, unknown> | GraphQLInputField,
  { access, costs, days }: Rules,
  use: string,
): readonly [string, string] {
  const args = 'args' in field ? field.args : []
  const head = `<code id="${field.name}">${field.name}${args.length > 0 ? `(${args.map(({ name }) => name).join(', ')})` : ''}: ${signature(String(field.type))}</code>`
  const rules = 'args' in field ? (access.fields.get(typeName)?.get(field.name)?.all ?? []) : []
  const kind = roots.find(name => name === typeName)
  const coordinate = `${typeName}.${field.name}`
  const parts = [
    told(field.deprecationReason, days, coordinate),
    prose(field.description),
    rules.length > 0 ? `<p>${who(rules)}</p>` : kind ? '<p>Everybody may ask.</p>' : '',
  ]
  parts.push(costOf(coordinate, !('args' in field), costs), use)
  if (args.length > 0) parts.push(definitions(args.map(argument => [argumentHead(argument), prose(argument.description)])))
  if (kind && 'args' in field) parts.push(exampleIn(kind, field))
  return [head, parts.filter(Boolean).join('\n')]
}

const argumentHead = ({ name, type, defaultValue }: GraphQLArgument): string =>
  `<code>${name}: ${signature(String(type))}${defaultValue === undefined ? '' : ` = ${escaped(JSON.stringify(defaultValue))}`}</code>`

function exampleIn(kind: (typeof roots)[number], field: GraphQLField<unknown, unknown>): string {
  const { text, variables } = exampleOf(kind.toLowerCase() as 'query', field)
  const shown = variables ? `${text}\n\n# Variables\n${JSON.stringify(variables, null, 2)}` : text
  const query = new URLSearchParams({ query: text, ...(variables && { variables: JSON.stringify(variables) }) })
  return `<details><summary>Example of <code>${field.name}</code></summary><pre tabindex="0"><code>${escaped(shown)}</code></pre><p><a href="/explorer?${escaped(String(query))}">Open it in the explorer</a></p></details>`
}

const definitions = (entries: readonly (readonly [term: string, told: string])[]): string =>
  `<dl>${entries.map(([term, said]) => `<dt>${term}</dt><dd>${said}</dd>`).join('\n')}</dl>`

const policies: Readonly<Record<string, string>> = {
  person: 'a person, not a key or a service',
  service: 'a service',
  organization_admin: 'an owner or admin of the organization',
  platform_admin: 'an admin of the platform',
  platform_super_admin: 'a super admin of the platform',
}

/** Describes requirements in words; all of them must be met. */
function who(requirements: readonly Requirement[]): string {
  const sentence = (requirement: Requirement): string => {
    if (requirement.kind === 'authenticated') return 'whoever is known'
    const name = (each: string) => (requirement.kind === 'scopes' ? `<code>${escaped(each)}</code>` : escaped(policies[each] ?? each))
    return `${requirement.kind === 'scopes' ? 'scope ' : ''}${requirement.any.map(all => all.map(name).join(' with ')).join(' or ')}`
  }
  return `Who may: ${requirements.map(sentence).join('; and ')}.`
}

const told = (reason: string | null | undefined, days: ReadonlyMap<string, string>, coordinate: string): string =>
  reason ? `<p class="bad">Deprecated: ${escaped(reason)}${sinceDay(days, coordinate)}</p>` : ''

const sinceDay = (days: ReadonlyMap<string, string>, coordinate: string): string => {
  const day = days.get(coordinate)
  return day ? ` (since ${day})` : ''
}

const fieldsOf = (type: GraphQLNamedType | undefined): readonly GraphQLField<unknown, unknown>[] =>
  type && 'getFields' in type && !isInputObjectType(type) ? Object.values(type.getFields()) : []

/** Writes a type as in SDL, with its name as a link. */
const signature = (type: string): string => type.replace(/\w+/, name => typeLink(name))

const builtIn = new Set(['ID', 'String', 'Int', 'Float', 'Boolean'])
const typeLink = (name: string): string => (builtIn.has(name) ? name : `<a href="/docs/graph/${name}">${name}</a>`)

/** Renders a description's Markdown, of which descriptions use code spans only. */
const inline = (text: string): string => escaped(text.replaceAll(/\s*\n\s*/g, ' ').trim()).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
const prose = (text: string | null | undefined): string => (text ? `<p>${inline(text)}</p>` : '')
const firstSentence = (text: string | null | undefined): string => inline(/^[\s\S]+?[.;:](?=\s|$)/.exec(text ?? '')?.[0].replace(/[;:]$/, '.') ?? text ?? '')

function usersOf(type: GraphQLNamedType, schema: GraphQLSchema): readonly string[] {
  const all = [...roots.flatMap(name => schema.getType(name) ?? []), ...typesOf(schema)]
  return all.flatMap(user => {
    const fields = isInputObjectType(user) ? Object.values(user.getFields()) : fieldsOf(user)
    return fields
      .filter(field => getNamedType(field.type) === type || ('args' in field && field.args.some(argument => getNamedType(argument.type) === type)))
      .map(field => `<a href="/docs/graph/${user.name}#${field.name}">${user.name}.${field.name}</a>`)
  })
}
