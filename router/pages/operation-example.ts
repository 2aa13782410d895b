import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'

/** An operation that selects one root field, with example values. */
export interface OperationExample {
  readonly text: string
  /** Example variables; null if none are needed. */
  readonly variables: Readonly<Record<string, unknown>> | null
}

/** Maximum depth of an example's selection: an entry of a page, and its fields. */
const depths = 3

/** Example values of scalars. */
const values: Readonly<Record<string, unknown>> = {
  ID: '01990000-0000-7000-8000-000000000001',
  String: 'text',
  Int: 1,
  Float: 1.5,
  Boolean: true,
  BigInt: 1000,
  DateTime: '2027-03-01T09:30:00.000Z',
  URL: 'https://example.test/page',
  EmailAddress: 'ada@example.test',
  CurrencyCode: 'EUR',
  JSON: {},
}

/** Writes a valid example operation: with every required argument, and the fields that a reader would look at first. */
export function exampleOf(kind: 'query' | 'mutation' | 'subscription', field: GraphQLField<unknown, unknown>): OperationExample {
  const given = field.args.filter(isRequiredArgument)
  const declared = given.length > 0 ? `(${given.map(({ name, type }) => `$${name}: ${type}`).join(', ')})` : ''
  const handed = given.length > 0 ? `(${given.map(({ name }) => `${name}: $${name}`).join(', ')})` : ''
  const name = `${field.name[0]!.toUpperCase()}${field.name.slice(1)}`
  const lines = [`${kind} ${name}${declared} {`, `  ${field.name}${handed}${selectionOf(field.type, '  ', depths)}`, '}']
  return { text: lines.join('\n'), variables: given.length > 0 ? Object.fromEntries(given.map(each => [each.name, filled(each)])) : null }
}

function selectionOf(type: GraphQLOutputType, indent: string, depth: number): string {
  const named = getNamedType(type)
  if (!isCompositeType(named)) return ''
  const inner = `${indent}  `
  const fields = isObjectType(named) ? Object.values(named.getFields()) : []
  const open = fields.filter(({ args, deprecationReason }) => !args.some(isRequiredArgument) && !deprecationReason)
  const isPage = named.name.endsWith('Connection')
  const lines = open.flatMap(field => {
    // A connection's edges repeat its nodes.
    if (isPage && field.name === 'edges') return []
    if (isLeafType(getNamedType(field.type))) return [`${inner}${field.name}`]
    // Selects the type's own fields, not everything they lead to.
    if (depth <= 1 || (!isPage && isListed(field.type))) return []
    const selection = selectionOf(field.type, inner, field.name === 'pageInfo' ? 1 : depth - 1)
    return selection === '' ? [] : [`${inner}${field.name}${selection}`]
  })
  return ` {\n${(lines.length > 0 ? lines : [`${inner}__typename`]).join('\n')}\n${indent}}`
}

const isListed = (type: GraphQLOutputType): boolean => {
  const open = isNonNullType(type) ? type.ofType : type
  return isListType(open) || getNamedType(open).name.endsWith('Connection')
}

function filled({ type, defaultValue }: GraphQLArgument | GraphQLInputField): unknown {
  return defaultValue ?? sample(type)
}

function sample(type: GraphQLInputType): unknown {
  const open = isNonNullType(type) ? type.ofType : type
  if (isListType(open)) return [sample(open.ofType)]
  if (isEnumType(open)) return open.getValues()[0]!.name
  if (!isInputObjectType(open)) return values[open.name] ?? null
  return Object.fromEntries(
    Object.values(open.getFields())
      .filter(isRequiredInputField)
      .map(field => [field.name, filled(field)]),
  )
}
