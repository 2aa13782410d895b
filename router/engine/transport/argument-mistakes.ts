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

/** Characters of all that is told of a mistake. */
const mostCharacters = 500

interface Mistake {
  /** Where it is within the argument: `input.scheduledAt`, `input.targets[1].at`. */
  readonly at: string
  readonly reason: string
}

/** The first mistake of a written value; null where there is none, or only within variables, which are told of elsewhere. */
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

/** What is said of a mistake, and the field of the argument that has it. */
export interface ArgumentMistake {
  readonly message: string
  readonly field: string
}

/** Finds the first mistake in arguments that a document writes out, of those fields and arguments that are looked at. */
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

/** Finds the first written argument that a schema refuses; null where the document is refused for something else. */
export const argumentMistake = (schema: GraphQLSchema, document: DocumentNode): ArgumentMistake | null => firstMistake(schema, document, () => true)

/** The error of an argument that was refused while a document ran, with the place of the mistake and its reason; any other as it is. */
function explained(schema: GraphQLSchema, document: DocumentNode, error: GraphQLError): GraphQLError {
  const name = /^Argument "(\w+)" .*invalid value/s.exec(error.message)?.[1]
  if (name === undefined) return error
  const last = error.path?.findLast(step => typeof step === 'string')
  const found = firstMistake(schema, document, (key, argument) => key === last && argument === name)
  if (!found) return error
  const { message, field } = found
  return new GraphQLError(message, { path: error.path, extensions: { ...error.extensions, code: 'BAD_USER_INPUT', field } })
}

/** Names, in the errors of a result, the field of a written argument that was refused and the reason: graphql-js prints the whole argument. */
export const withArgumentMistakes = (schema: GraphQLSchema, document: DocumentNode, result: ExecutionResult): ExecutionResult =>
  result.errors ? { ...result, errors: result.errors.map(error => explained(schema, document, error)) } : result
