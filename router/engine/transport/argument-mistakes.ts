import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'

/** Maximum characters of the message for one mistake. */
const mostCharacters = 500

interface Mistake {
  /** Path within the argument: `input.scheduledAt`, `input.targets[1].at`. */
  readonly at: string
  readonly reason: string
}

/**
 * Returns the first mistake in a literal; null where there is none, or only within variables, which are reported
 * elsewhere.
 */
function mistakeIn(value: ValueNode, type: GraphQLInputType, at: string): Mistake | null {
  if (isNonNullType(type)) return value.kind === Kind.NULL ? { at, reason: `${type} must not be null.` } : mistakeIn(value, type.ofType, at)
  if (value.kind === Kind.NULL || value.kind === Kind.VARIABLE) return null
  if (isListType(type)) {
    if (value.kind !== Kind.LIST) return mistakeIn(value, type.ofType, at)
    for (const [index, each] of value.values.entries()) {
      const found = mistakeIn(each, type.ofType, `${at}[${index}]`)
      if (found) return found
    }
    return null
  }
  if (isInputObjectType(type)) {
    if (value.kind !== Kind.OBJECT) return { at, reason: `${type} takes an object.` }
    const fields = type.getFields()
    for (const { name, value: given } of value.fields) {
      const field = fields[name.value]
      const found = field ? mistakeIn(given, field.type, `${at}.${name.value}`) : { at: `${at}.${name.value}`, reason: `${type} has no such field.` }
      if (found) return found
    }
    return null
  }
  try {
    return type.parseLiteral(value, null) === undefined ? { at, reason: `${type} does not take this value.` } : null
  } catch (error) {
    return { at, reason: (error as Error).message }
  }
}

/** A message about a mistake, and the field of the argument that contains it. */
export interface ArgumentMistake {
  readonly message: string
  readonly field: string
}

/** Finds the first mistake in the literal arguments of a document, limited to the selected fields and arguments. */
function firstMistake(schema: GraphQLSchema, document: DocumentNode, isLookedAt: (key: string, argument: string) => boolean): ArgumentMistake | null {
  const types = new TypeInfo(schema)
  let found: ArgumentMistake | null = null
  visit(
    document,
    visitWithTypeInfo(types, {
      Field({ name: field, alias, arguments: given = [] }) {
        for (const { name, value } of given) {
          const type = types.getFieldDef()?.args.find(each => each.name === name.value)?.type
          if (!found && type && isLookedAt((alias ?? field).value, name.value)) found = described(name.value, mistakeIn(value, type, name.value))
        }
      },
    }),
  )
  return found
}

const described = (argument: string, mistake: Mistake | null): ArgumentMistake | null =>
  mistake && {
    message: `Argument "${argument}" has an invalid value at "${mistake.at}": ${mistake.reason}`.slice(0, mostCharacters),
    field: mistake.at.slice(argument.length).replace(/^\./, '') || argument,
  }

/** Finds the first literal argument that a schema rejects; null where the document is invalid for another reason. */
export const argumentMistake = (schema: GraphQLSchema, document: DocumentNode): ArgumentMistake | null => firstMistake(schema, document, () => true)

/**
 * Adds the path and the reason of the mistake to an error about an argument that was rejected at run time; returns any
 * other error unchanged.
 */
function explained(schema: GraphQLSchema, document: DocumentNode, error: GraphQLError): GraphQLError {
  const name = /^Argument "(\w+)" .*invalid value/s.exec(error.message)?.[1]
  if (name === undefined) return error
  const last = error.path?.findLast(step => typeof step === 'string')
  const found = firstMistake(schema, document, (key, argument) => key === last && argument === name)
  if (!found) return error
  const { message, field } = found
  return new GraphQLError(message, { path: error.path, extensions: { ...error.extensions, code: 'BAD_USER_INPUT', field } })
}

/**
 * Adds to a result's errors which field of a literal argument was rejected and why: graphql-js prints the whole
 * argument.
 */
export const withArgumentMistakes = (schema: GraphQLSchema, document: DocumentNode, result: ExecutionResult): ExecutionResult =>
  result.errors ? { ...result, errors: result.errors.map(error => explained(schema, document, error)) } : result
