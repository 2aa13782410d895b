import type { Part } from '../engine/supergraph-fixture.ts'

/** One use of an access directive as the test means it, in a form that shares nothing with the code under test. */
export interface Ask {
  readonly written: string
  met(facts: Facts): boolean
}

/** What the test knows of a viewer. */
export interface Facts {
  readonly known: boolean
  readonly person: boolean
  readonly service: boolean
  readonly scopes: ReadonlySet<string>
}

/** A supergraph that chance made, with what it means: the rules of every type and field, and the value of every field. */
export interface RandomGraph {
  readonly parts: Readonly<Record<string, Part>>
  /** Of objects, enums and scalars. */
  readonly typeRules: ReadonlyMap<string, readonly Ask[]>
  /** Of the fields of objects, by `Type.field`. */
  readonly fieldRules: ReadonlyMap<string, readonly Ask[]>
  /** What an object answers for one of its fields: a JSON value, objects as `{ __typename, id }`. */
  fieldValue(object: Thing, field: string): unknown
}

export interface Thing {
  readonly __typename: string
  readonly id: string
}

export const scopeNames = ['a:one', 'a:two', 'b:one'] as const

interface FieldPlan {
  readonly name: string
  /** Without wrappers. */
  readonly type: string
  /** With `%` for the type: `[%!]!`. */
  readonly wrapper: string
  readonly rules: readonly Ask[]
  readonly where: 'a' | 'b'
}

const objects = ['T0', 'T1', 'T2', 'T3', 'T4', 'T5']
const leaves = ['String', 'Int', 'Mood', 'Tone', 'Secret', 'Stamp']
const implementers: Readonly<Record<string, readonly string[]>> = { Base: ['T0', 'T1', 'T2', 'T4'], Named: ['T0', 'T1', 'T2'], Dated: ['T2', 'T3'] }
/** Implementers that answer a field of their interface with a narrower type. */
const narrowed: Readonly<Record<string, string>> = {
  'T0.near': 'T1',
  'T1.near': 'Named',
  'T2.near': 'T2',
  'T4.near': 'Base',
  'T2.mixed': 'T0',
  'T3.mixed': 'Some',
}
const unions: Readonly<Record<string, readonly string[]>> = { Any: ['T1', 'T3', 'T4'], Some: ['T0', 'T5'] }
const enumValues: Readonly<Record<string, readonly string[]>> = { Mood: ['CALM', 'WILD'], Tone: ['LOW', 'HIGH'] }
const roots = ['Query', 'Mutation']

/** Makes a graph of two subgraphs that share the keys of all their objects, out of a seed. */
export function randomGraph(seed: number): RandomGraph {
  const random = createRandom(seed)
  const chance = (share: number) => random() < share
  const one = <Value>(list: readonly Value[]): Value => list[Math.floor(random() * list.length)]!
  const conjunctions = (names: readonly string[]) =>
    Array.from({ length: 1 + Math.floor(random() * 2) }, () => names.filter(() => chance(0.5))).filter(list => list.length > 0)

  const ask = (): Ask => {
    const kind = one(['authenticated', 'scopes', 'scopes', 'policy'])
    if (kind === 'authenticated') return { written: '@authenticated', met: facts => facts.known }
    if (kind === 'scopes') {
      const any = conjunctions(scopeNames)
      if (any.length === 0) any.push([scopeNames[0]])
      return { written: `@requiresScopes(scopes: ${JSON.stringify(any)})`, met: facts => any.some(all => all.every(scope => facts.scopes.has(scope))) }
    }
    const any = conjunctions(['person', 'service'])
    if (any.length === 0) any.push(['person'])
    const holds = (facts: Facts, name: string) => (name === 'person' ? facts.person : facts.service)
    return { written: `@policy(policies: ${JSON.stringify(any)})`, met: facts => any.some(all => all.every(name => holds(facts, name))) }
  }
  const asks = (share: number): readonly Ask[] => {
    const list = chance(share) ? [ask(), ...(chance(0.3) ? [ask()] : [])] : []
    // A directive may occur once per location.
    return list.filter((each, place) => !list.slice(0, place).some(other => other.written.slice(0, 5) === each.written.slice(0, 5)))
  }
  const wrapper = () => one(['%', '%', '%', '%!', '[%]', '[%!]', '[%!]!'])

  const typeRules = new Map<string, readonly Ask[]>()
  for (const name of [...objects, 'Mood', 'Tone', 'Secret', 'Stamp']) typeRules.set(name, asks(0.3))
  const fields = new Map<string, FieldPlan[]>([...roots, ...objects].map(name => [name, []]))
  const shared = new Map<string, { name: string; type: string; wrapper: string }[]>()
  for (const [name, members] of Object.entries(implementers)) {
    const list = [one(leaves), one(leaves), one([...objects, 'Any', 'Named', 'Dated', 'Base'])].map((type, place) => ({
      name: `${name.toLowerCase()}${place}`,
      type,
      wrapper: wrapper(),
    }))
    if (name === 'Base') list.splice(0, list.length, { name: 'near', type: 'Base', wrapper: wrapper() })
    if (name === 'Named') list.push(shared.get('Base')![0]!)
    if (name === 'Dated') list.push({ name: 'mixed', type: 'Some', wrapper: wrapper() })
    shared.set(name, list)
    for (const member of members) {
      for (const each of list) {
        if (name === 'Named' && each.name === 'near') continue
        fields.get(member)!.push({ ...each, type: narrowed[`${member}.${each.name}`] ?? each.type, rules: asks(0.15), where: 'a' })
      }
    }
  }
  for (const name of objects) {
    const count = 2 + Math.floor(random() * 3)
    for (let place = 0; place < count; place++) {
      const where = chance(0.5) ? 'a' : 'b'
      const type = where === 'a' ? one([...leaves, ...objects, 'Named', 'Dated', 'Any', 'Some']) : one([...leaves, ...objects])
      fields.get(name)!.push({ name: `${name.toLowerCase()}f${place}`, type, wrapper: wrapper(), rules: asks(0.25), where })
    }
    fields.get(name)!.push({ name: `${name.toLowerCase()}b`, type: 'String', wrapper: '%', rules: asks(0.25), where: 'b' })
  }
  for (const root of roots) {
    const types = [...objects, 'Named', 'Dated', 'Any', 'Some', 'Base', 'Secret', 'Mood', 'String']
    types.forEach((type, place) => {
      fields.get(root)!.push({ name: `${root === 'Query' ? 'q' : 'm'}${place}`, type, wrapper: wrapper(), rules: asks(0.15), where: chance(0.8) ? 'a' : 'b' })
    })
  }
  for (const root of roots)
    for (const field of fields.get(root)!)
      if (field.where === 'b' && !objects.includes(field.type) && !leaves.includes(field.type)) replace(fields.get(root)!, field)

  const idRules = new Map(objects.map(name => [name, asks(0.15)]))
  const fieldRules = new Map<string, readonly Ask[]>()
  for (const [name, list] of fields) for (const field of list) fieldRules.set(`${name}.${field.name}`, field.rules)
  for (const [name, rules] of idRules) fieldRules.set(`${name}.id`, rules)

  const text = (rules: readonly Ask[] | undefined) => (rules ?? []).map(rule => ` ${rule.written}`).join('')
  const sdlOf = (where: 'a' | 'b') => {
    const lines: string[] = []
    const line = (field: FieldPlan) => `${field.name}: ${field.wrapper.replace('%', field.type)}${text(field.rules)}`
    for (const root of roots) {
      const own = fields.get(root)!.filter(field => field.where === where)
      if (own.length > 0) lines.push(`type ${root} { ${own.map(line).join(' ')} }`)
    }
    for (const name of objects) {
      const interfaces = where === 'a' ? Object.keys(implementers).filter(each => implementers[each]!.includes(name)) : []
      const own = fields.get(name)!.filter(field => field.where === where)
      const id = `id: ID!${where === 'a' ? text(idRules.get(name)) : ''}`
      const rules = where === 'a' ? text(typeRules.get(name)) : ''
      lines.push(
        `type ${name}${interfaces.length > 0 ? ` implements ${interfaces.join(' & ')}` : ''} @key(fields: "id")${rules} { ${id} ${own.map(line).join(' ')} }`,
      )
    }
    for (const [name, values] of Object.entries(enumValues)) lines.push(`enum ${name}${where === 'a' ? text(typeRules.get(name)) : ''} { ${values.join(' ')} }`)
    for (const name of ['Secret', 'Stamp']) lines.push(`scalar ${name}${where === 'a' ? text(typeRules.get(name)) : ''}`)
    if (where === 'a') {
      for (const [name, list] of shared)
        lines.push(
          `interface ${name}${name === 'Named' ? ' implements Base' : ''} { id: ID! ${list.map(each => `${each.name}: ${each.wrapper.replace('%', each.type)}`).join(' ')} }`,
        )
      for (const [name, members] of Object.entries(unions)) lines.push(`union ${name} = ${members.join(' | ')}`)
    }
    return lines.join('\n')
  }

  const types = new Map<string, FieldPlan>()
  for (const [name, list] of fields) for (const field of list) types.set(`${name}.${field.name}`, field)
  const fieldValue = (object: Thing, field: string): unknown => {
    if (field === 'id') return object.id
    const plan = types.get(`${object.__typename}.${field}`)!
    return wrapped(plan.wrapper, plan.type, `${object.__typename}.${object.id}.${field}`)
  }
  const wrapped = (wrapper: string, type: string, place: string): unknown => {
    if (!wrapper.endsWith('!') && createRandom(hash(`null ${seed} ${place}`))() < 0.1) return null
    const nullable = wrapper.replace(/!$/, '')
    if (!nullable.startsWith('[')) return bare(type, place)
    const length = hash(`length ${seed} ${place}`) % 3
    return Array.from({ length }, (_, index) => wrapped(nullable.slice(1, -1), type, `${place}.${index}`))
  }
  const bare = (type: string, place: string): unknown => {
    const number = hash(`${seed} ${place}`)
    if (type === 'Int') return number % 1000
    if (enumValues[type]) return enumValues[type][number % 2]
    const members = implementers[type] ?? unions[type] ?? (objects.includes(type) ? [type] : undefined)
    return members ? { __typename: members[number % members.length]!, id: number.toString(36) } : `${type} ${number.toString(36)}`
  }

  const resolversOf = (where: 'a' | 'b') => {
    const made: Record<string, Record<string, unknown>> = {}
    for (const [name, list] of fields) {
      const own = list.filter(field => field.where === where)
      if (own.length === 0 && roots.includes(name)) continue
      made[name] = {}
      for (const field of own)
        made[name][field.name] = (object: Thing | undefined) => fieldValue(roots.includes(name) ? { __typename: name, id: '' } : object!, field.name)
      if (!roots.includes(name)) made[name].__resolveReference = (reference: Thing) => reference
    }
    if (where === 'a')
      for (const name of [...Object.keys(implementers), ...Object.keys(unions)]) made[name] = { __resolveType: (object: Thing) => object.__typename }
    return made as NonNullable<Part['resolvers']>
  }
  const parts: Record<string, Part> = {
    a: { sdl: sdlOf('a'), resolvers: resolversOf('a') },
    b: { sdl: sdlOf('b'), resolvers: resolversOf('b') },
  }
  return { parts, typeRules, fieldRules, fieldValue }
}

/** Abstract types stand in subgraph a only. */
function replace(list: FieldPlan[], field: FieldPlan): void {
  list[list.indexOf(field)] = { ...field, where: 'a' }
}

export const membersOf = (abstract: string): readonly string[] | undefined => implementers[abstract] ?? unions[abstract]
export const isUnion = (name: string): boolean => name in unions

/** The same numbers for the same seed, from 0 up to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let place = 0; place < text.length; place++) value = Math.imul(value ^ text.charCodeAt(place), 0x01000193)
  return value >>> 0
}
