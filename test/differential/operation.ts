import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isNonNullType,
  isUnionType,
  type OperationTypeNode,
  print,
} from 'graphql'

export interface GeneratedOperation {
  readonly source: string
  readonly variables: Record<string, unknown>
  /** Names of the fields that it selects, root fields apart. */
  readonly fields: ReadonlySet<string>
}

export interface Generating {
  readonly schema: GraphQLSchema
  readonly kind?: `${OperationTypeNode}`
  /** What arguments are given, by the argument's name; an argument without values is left out. */
  readonly values: Readonly<Record<string, readonly unknown[]>>
  /** `Type.field` of what is never asked. */
  readonly without?: ReadonlySet<string>
  /** How many fields an operation has at most. @default 60 */
  readonly mostFields?: number
}

/** Names that break naive executors: of prototypes, of what planners make up themselves; and keys under which other fields are fetched. */
const hostile = ['__proto__', 'constructor', 'toString', '_entities', '_e0', '_internal_qp_alias_0', '_p0', 'id', 'name', 'x', 'y', 'representations']
const variableNames = ['representations', '__batch_reps_0', 'v', 'v_v', 'id', 'if']

/**
 * Makes an operation out of a list of choices: with fewer choices it is smaller, so that a failing one shrinks. Aliases are
 * drawn from the names of other fields, keys among them, and from hostile names.
 */
export function generateOperation({ schema, kind = 'query', values, without, mostFields = 60 }: Generating, choices: readonly number[]): GeneratedOperation {
  let at = 0
  let count = 0
  const pick = (most: number): number => (at < choices.length ? choices[at++]! % most : 0)
  const one = <Value>(list: readonly Value[]): Value => list[pick(list.length)]!
  const more = () => at < choices.length && count < mostFields
  const variables: Record<string, unknown> = {}
  const declared: string[] = []
  const fragments: { readonly name: string; readonly on: string; text: string; keys: [string, string][] }[] = []
  const selected = new Set<string>()
  const taken = new Map<string, string>()

  const declare = (type: string, value: unknown): string => {
    const name = `${one(variableNames)}${declared.length === 0 ? '' : declared.length}`
    // Sometimes the value is a default and the variable is absent.
    const isDefault = type === 'Boolean' && value !== undefined && pick(3) === 0
    declared.push(`$${name}: ${type}${isDefault ? ` = ${value}` : ''}`)
    if (value !== undefined && !isDefault) variables[name] = value
    return `$${name}`
  }

  const directive = (name: 'skip' | 'include'): string => {
    const value = pick(4) === 0 ? name === 'include' : name !== 'include'
    // Mostly keeps fields: an empty operation compares nothing.
    const wanted = pick(3) === 0 ? value : name === 'include'
    if (pick(3) === 0) return ` @${name}(if: ${wanted})`
    return ` @${name}(if: ${declare(pick(2) === 0 ? 'Boolean!' : 'Boolean! = true', wanted)})`
  }
  const condition = (isRoot: boolean): string => {
    const choice = pick(16)
    // Which event a subscription waits for is no matter of conditions (GraphQL, section 5.2.3.1).
    if (isRoot && kind === 'subscription') return ''
    if (choice === 1 || choice === 2) return directive('skip')
    if (choice === 3 || choice === 4) return directive('include')
    if (choice === 5) return directive('include') + directive('skip')
    return ''
  }

  const argument = (definition: GraphQLArgument): string => {
    const named = getNamedType(definition.type)
    const given = values[definition.name] ?? []
    // One name may denote different enums in different places.
    const pool = isEnumType(named) ? given.filter(value => value === null || named.getValue(String(value))) : given
    const required = isNonNullType(definition.type)
    if (pool.length === 0 || (!required && definition.defaultValue === undefined && pick(2) === 0) || (definition.defaultValue !== undefined && pick(3) === 0))
      return ''
    const usable = required ? pool.filter(value => value !== null) : pool
    const value = one(usable)
    if (pick(2) === 0) return `${definition.name}: ${declare(String(definition.type), value)}`
    return `${definition.name}: ${print(astFromValue(value, definition.type)!)}`
  }

  const fits = (path: string, signature: string): boolean => (taken.get(path) ?? signature) === signature
  /** A response key that the place does not use for something else yet. */
  const keyFor = (wanted: string, signature: string, place: string): string => {
    let key = wanted
    for (let number = 0; !fits(`${place}.${key}`, signature); number++) key = `k${number}`
    taken.set(`${place}.${key}`, signature)
    return key
  }

  const selection = (type: GraphQLCompositeType, depth: number, place: string, isOneOfSeveral = false): string => {
    const parts: string[] = []
    const isRoot = place === ''
    const fields = isUnionType(type) ? [] : Object.values(type.getFields()).filter(field => !without?.has(`${type.name}.${field.name}`))
    const names = fields.map(field => field.name)
    // Under abstract types, keys may mean different fields of different types: then validation has the word.
    const scope = `${place}${isOneOfSeveral && pick(3) === 0 ? `<${type.name}>` : ''}`
    const length = (isRoot ? 2 : 3) + pick(4)
    for (let index = 0; index < length && (index === 0 || more()); index++) {
      const choice = pick(12)
      if (choice === 1 && !(isRoot && kind === 'subscription')) {
        const alias = pick(2) === 0 ? keyFor(one([...hostile, ...names]), '__typename', scope) : ''
        parts.push(`${alias ? `${alias}: ` : ''}__typename${condition(isRoot)}`)
      } else if (choice >= 9 || fields.length === 0) {
        if (depth === 0) continue
        const targets = isAbstractType(type) ? [...schema.getPossibleTypes(type), ...schema.getPossibleTypes(type), type] : [type]
        const target = one(targets)
        const known = fragments.filter(
          ({ on, text, keys }) => on === target.name && text !== '' && keys.every(([key, signature]) => fits(place + key, signature)),
        )
        if (known.length > 0 && pick(2) === 0) {
          const again = one(known)
          for (const [key, signature] of again.keys) taken.set(place + key, signature)
          parts.push(`...${again.name}${condition(isRoot)}`)
          continue
        }
        if (pick(3) === 0) {
          const made: (typeof fragments)[number] = { name: `F${fragments.length}`, on: target.name, text: '', keys: [] }
          fragments.push(made)
          made.text = selection(target, depth - 1, place, isAbstractType(type))
          for (const [key, signature] of taken) if (key.startsWith(`${place}.`)) made.keys.push([key.slice(place.length), signature])
          parts.push(`...${made.name}${condition(isRoot)}`)
        } else if (target === type && pick(2) === 0) parts.push(`...${condition(isRoot)} ${selection(target, depth - 1, place)}`)
        else parts.push(`... on ${target.name}${condition(isRoot)} ${selection(target, depth - 1, place, isAbstractType(type))}`)
      } else {
        const field = one(fields)
        const named = getNamedType(field.type)
        if (isCompositeType(named) && depth === 0) continue
        const given = field.args.map(argument)
        if (field.args.some((each, position) => given[position] === '' && isNonNullType(each.type) && each.defaultValue === undefined)) continue
        count++
        if (!isRoot) selected.add(field.name)
        const written = given.filter(Boolean).join(', ')
        const signature = `${field.name}(${written})`
        const key = keyFor(pick(3) === 0 ? one([...names, ...names, ...hostile]) : field.name, signature, scope)
        const inner = isCompositeType(named) ? ` ${selection(named, depth - 1, `${place}.${key}`)}` : ''
        parts.push(`${key === field.name && pick(8) !== 0 ? '' : `${key}: `}${field.name}${written ? `(${written})` : ''}${condition(isRoot)}${inner}`)
      }
    }
    if (parts.length === 0) parts.push('__typename')
    return `{ ${parts.join(' ')} }`
  }

  const root = { query: schema.getQueryType(), mutation: schema.getMutationType(), subscription: schema.getSubscriptionType() }[kind]!
  const body = selection(root, 6, '')
  const source = [
    `${kind}${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${body}`,
    ...fragments.map(({ name, on, text }) => `fragment ${name} on ${on} ${text}`),
  ].join('\n')
  return { source, variables, fields: selected }
}
