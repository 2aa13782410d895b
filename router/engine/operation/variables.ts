import {
  coerceInputValue,
  type GraphQLError,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  print,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql'
import { errorFor } from '../errors.ts'

/** Number of mistakes after which the search for more ends. */
const mostErrors = 5
/** Maximum characters of a value in a message, and of a whole message. */
const mostValueCharacters = 100
const mostCharacters = 500

export type Coerced =
  | { readonly coerced: Readonly<Record<string, unknown>>; readonly errors?: undefined }
  | { readonly errors: readonly GraphQLError[]; readonly coerced?: undefined }

/**
 * Coerces the variables of an operation, like `getVariableValues` of graphql-js, but messages never contain a list or
 * an object and at most five mistakes are reported: graphql-js prints the whole surrounding value for each mistake, so
 * that one object with ten thousand unknown fields takes seconds.
 * @returns the values under the client's names, or up to five errors BAD_USER_INPUT of up to 500 characters each
 */
export function coerceVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Readonly<Record<string, unknown>> | null | undefined,
): Coerced {
  const errors: GraphQLError[] = []
  const wrong = (message: string) => {
    errors.push(errorFor('BAD_USER_INPUT', cut(message, mostCharacters)))
    if (errors.length === mostErrors) throw enough
  }
  // A variable may be called `__proto__`.
  const coerced: Record<string, unknown> = Object.create(null)
  try {
    for (const { variable, type: typeNode, defaultValue } of definitions) {
      const name = variable.name.value
      const type = typeFromAST(schema, typeNode as never)
      if (!isInputType(type)) {
        wrong(`Variable "$${name}" expected value of type "${print(typeNode)}" which cannot be used as an input type.`)
      } else if (!given || !Object.hasOwn(given, name)) {
        if (defaultValue) coerced[name] = valueFromAST(defaultValue, type)
        else if (isNonNullType(type)) wrong(`Variable "$${name}" of required type "${type}" was not provided.`)
      } else if (given[name] === null && isNonNullType(type)) {
        wrong(`Variable "$${name}" of non-null type "${type}" must not be null.`)
      } else {
        coerced[name] = coerceInputValue(given[name], type, (path, value, { message }) => {
          const place = path.length === 0 ? '' : ` at "${name}${path.map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}"`
          wrong(`Variable "$${name}" got invalid value ${printed(value)}${cut(place, mostValueCharacters)}; ${withoutValue(message)}`)
        })
      }
    }
  } catch (cause) {
    if (cause !== enough) throw cause
  }
  return errors.length > 0 ? { errors } : { coerced }
}

const enough = Symbol('enough')

const cut = (text: string, most: number) => (text.length <= most ? text : `${text.slice(0, most)}…`)

/** Removes the value from a scalar's message: scalars print it whatever it holds. */
const withoutValue = (message: string) => message.replace(/( cannot represent [^:]+): .*$/s, '$1.')

function printed(value: unknown): string {
  if (Array.isArray(value)) return '(a list)'
  if (typeof value === 'object' && value !== null) return '(an object)'
  return typeof value === 'string' ? JSON.stringify(cut(value, mostValueCharacters)) : String(value)
}
