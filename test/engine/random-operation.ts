import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isUnionType,
} from 'graphql'

export interface RandomOperation {
  readonly source: string
  readonly variables: Record<string, unknown>
}

/**
 * Makes an operation out of a list of choices: a shorter list makes a smaller operation, so a failing one shrinks.
 * Aliases are drawn from field names, key names and names that break naive executors.
 */
export function randomOperation(schema: GraphQLSchema, choices: readonly number[]): RandomOperation {
  let at = 0
  const pick = (most: number) => (at < choices.length ? choices[at++]! % most : 0)
  const variables: Record<string, unknown> = {}
  const declared: string[] = []
  const fragments: string[] = []
  const aliases = ['id', 'name', 'title', 'body', 'reviews', 'author', '__proto__', 'constructor', '_entities', '_e0', '_internal_qp_alias_0', 'x', 'y']
  const variableNames = ['representations', '__batch_reps_0', 'v', 'v_v', 'id', 'input']

  const declare = (type: string, value: unknown): string => {
    const name = `${variableNames[pick(variableNames.length)]}${declared.length === 0 ? '' : declared.length}`
    declared.push(`$${name}: ${type}`)
    if (value !== undefined) variables[name] = value
    return `$${name}`
  }

  const condition = (): string => {
    const choice = pick(14)
    if (choice === 1) return ` @skip(if: ${declare('Boolean!', pick(2) === 1)})`
    if (choice === 2) return ` @include(if: ${declare('Boolean!', pick(2) === 1)})`
    if (choice === 3) return ' @include(if: true)'
    if (choice === 4) return ' @skip(if: true)'
    return ''
  }

  const argument = (definition: GraphQLArgument): string => {
    const type = getNamedType(definition.type)
    const required = isNonNullType(definition.type)
    if (!required && pick(2) === 0) return ''
    const text = String(definition.type)
    const asVariable = pick(2) === 1
    if (isInputObjectType(type)) {
      if (asVariable) return `${definition.name}: ${declare(text, [undefined, null, {}, { text: null }, { text: 'a', numbers: [1, 2] }][pick(5)])}`
      return `${definition.name}: ${['null', '{}', '{text: null}', '{text: "q", numbers: 3}'][pick(4)]}`
    }
    if (isEnumType(type)) return `${definition.name}: ${asVariable ? declare(text, type.getValues()[pick(2)]!.name) : type.getValues()[pick(2)]!.name}`
    if (type.name === 'ID') {
      const value = ['b1', 'b2', 'b3', 'a1', 'a2', 'none'][pick(6)]!
      return `${definition.name}: ${asVariable ? declare(text, value) : JSON.stringify(value)}`
    }
    const value = [null, 1, 2, 3][pick(4)]
    // A null for an argument with a default is an error of the resolver's own making: keep to numbers there.
    const number = definition.defaultValue === undefined ? value : (value ?? 3)
    return `${definition.name}: ${asVariable ? declare(text, number) : number}`
  }

  const selection = (type: GraphQLCompositeType, depth: number, isRoot: boolean): string => {
    const parts: string[] = []
    const fields = isUnionType(type) ? [] : Object.values(type.getFields())
    const length = 1 + pick(4)
    for (let index = 0; index < length; index++) {
      const choice = pick(10)
      if (choice === 0 && !isRoot) {
        parts.push(`${pick(2) === 1 ? `${aliases[pick(aliases.length)]}: ` : ''}__typename`)
      } else if (choice >= 8 || fields.length === 0) {
        if (depth === 0) continue
        const conditions = isAbstractType(type) ? schema.getPossibleTypes(type) : [type]
        const target = pick(5) === 0 ? type : conditions[pick(conditions.length)]!
        const inner = selection(target, depth - 1, isRoot)
        if (pick(3) === 0) {
          const name = `F${fragments.length}`
          fragments.push('')
          fragments[Number(name.slice(1))] = `fragment ${name} on ${target.name} ${inner}`
          parts.push(`...${name}${condition()}`)
        } else {
          parts.push(`... on ${target.name}${condition()} ${inner}`)
        }
      } else {
        const field = fields[pick(fields.length)]!
        const named = getNamedType(field.type)
        if (isCompositeType(named) && depth === 0) continue
        const alias = pick(3) === 0 ? `${aliases[pick(aliases.length)]}: ` : ''
        const given = field.args.map(argument).filter(Boolean)
        const inner = isCompositeType(named) ? ` ${selection(named, depth - 1, false)}` : ''
        parts.push(`${alias}${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''}${condition()}${inner}`)
      }
    }
    if (parts.length === 0) parts.push('__typename')
    return `{ ${parts.join(' ')} }`
  }

  const body = selection(schema.getQueryType()!, 5, true)
  const source = [`query${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${body}`, ...fragments].join('\n')
  return { source, variables }
}
