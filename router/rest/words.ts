import {
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql'
import { DomainError, isErrorCode, statusOf } from '../../platform/errors.ts'
import { scalars } from '../../subgraphs/scalars.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { refusedCode } from '../access/refusal.ts'
import { withStatus } from '../door/errors.ts'
import type { OperationRow } from './row.ts'
import { fromEnum, isRecord } from './values.ts'

/** Writes a route's error messages in the route's own terms, derived from the types and enums of its operation. */
export interface Words {
  /**
   * Checks the values of an operation's variables before the graph would reject them in its own terms.
   * @throws BAD_USER_INPUT with `field`, named as the route names it
   */
  check(variables: Readonly<Record<string, unknown>>): void
  /** Translates an error of an operation to the route's terms; an internal error is returned unchanged, for the log. */
  refusal(error: GraphQLError, viewer: Viewer): unknown
}

/** Standard names of the graph's input that differ in every route. */
export const headerNames: Readonly<Record<string, string>> = { expectedVersion: 'If-Match', idempotencyKey: 'Idempotency-Key' }

/** Standard names within a list of records, where headers cannot carry a value for each. */
const innerNames: Readonly<Record<string, string>> = { expectedVersion: 'version' }

/** Name of a nested input field in every route. */
export const innerName = (name: string): string => (Object.hasOwn(innerNames, name) ? innerNames[name]! : name)

/** Descriptions of each scalar's valid values, to follow `must be`. */
const forms: Readonly<Record<string, string>> = {
  ID: 'an id',
  String: 'text',
  Int: 'a whole number',
  Float: 'a number',
  Boolean: 'true or false',
  BigInt: 'a whole number',
  DateTime: 'a moment such as 2027-03-01T09:30:00Z',
  URL: 'an absolute address such as https://example.test/page',
  EmailAddress: 'a mail address',
}

/** Details of errors that are codes and stay unchanged. */
const codes: ReadonlySet<string> = new Set(['reason', 'field', 'service', 'limit', 'requiredScopes', 'requiredPolicies'])

/** Enum values that are acronyms, and keep their upper case in sentences; routes accept them in any case. */
const acronyms: ReadonlySet<string> = new Set(['GIF', 'URL'])

const valuesOfSchema = new WeakMap<GraphQLSchema, ReadonlySet<string>>()

/** Values of all enums of a schema, gathered once for all routes. */
function enumValuesOf(schema: GraphQLSchema): ReadonlySet<string> {
  const known = valuesOfSchema.get(schema)
  if (known) return known
  const values = new Set(Object.values(schema.getTypeMap()).flatMap(type => (isEnumType(type) ? type.getValues().map(({ name }) => name) : [])))
  valuesOfSchema.set(schema, values)
  return values
}

/** Creates the messages of one route. */
export function wordsOf(row: OperationRow, schema: GraphQLSchema): Words {
  const names = { ...headerNames, ...row.names }
  const enumValues = enumValuesOf(schema)
  const operation = row.operation.definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION)
  const variables = (operation?.variableDefinitions ?? []).flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node)
    return isInputType(type) ? [{ name: variable.name.value, type }] : []
  })
  /** A place of the graph's input under the route's name. */
  const named = (path: string): string => {
    const [first = '', ...rest] = path.split('.')
    return [Object.hasOwn(names, first) ? names[first] : first, ...rest.map(innerName)].join('.')
  }
  /** Parameters in the path. */
  const segments = new Set([...row.path.matchAll(/:(\w+)/g)].map(([, segment]) => segment!))
  const lowered = (text: string): string =>
    text.replaceAll(/\b[A-Z][A-Z0-9_]+\b/g, word => (enumValues.has(word) && !acronyms.has(word) ? fromEnum(word) : word))
  // The word `id` may occur anywhere in a sentence; a field's name is at its beginning.
  const retold = (message: string): string =>
    lowered(message.replace(/^\w+/, word => named(word)).replaceAll(/\b(?:expectedVersion|idempotencyKey)\b/g, word => headerNames[word]!))
  const details = (value: unknown, key = ''): unknown => {
    if (codes.has(key)) return key === 'field' && typeof value === 'string' ? named(value) : value
    if (typeof value === 'string') return enumValues.has(value) ? fromEnum(value) : value
    if (Array.isArray(value)) return value.map(each => details(each))
    return isRecord(value) ? allDetails(value) : value
  }
  const allDetails = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(values).map(([name, inner]) => [name, details(inner, name)]))
  return {
    check(values) {
      for (const { name, type } of variables) {
        // An input's fields are the body's fields: the input itself has no name in a route.
        const isInput = name === 'input'
        checkValue(values[name], type, isInput ? '' : name, named, segments)
      }
    },
    refusal(error, viewer) {
      const { code, ...rest } = error.extensions
      const anonymous = viewer.kind === 'anonymous'
      if (code === refusedCode) return new DomainError(anonymous ? 'UNAUTHENTICATED' : 'FORBIDDEN', missing(rest, anonymous), rest)
      if (code === 'UNAUTHENTICATED') return new DomainError(anonymous ? 'UNAUTHENTICATED' : 'FORBIDDEN', retold(error.message), allDetails(rest))
      if (!isErrorCode(code) || statusOf[code] === 500) return error.originalError ?? error
      // A subgraph that knows a stricter rule for a type refuses with its own message.
      const message = /^Variable "\$/.test(error.message)
        ? 'A value does not have the form that it must have: compare it with what this address takes.'
        : error.message
      const refusal = new DomainError(code, retold(message), allDetails(rest))
      // A body that is too large is 413, however it was sent.
      return rest.reason === 'TOO_LARGE' ? withStatus(413, refusal) : refusal
    },
  }
}

/** Describes the rights that a route requires, from the requirements of the field behind it. */
function missing({ requiredScopes, requiredPolicies }: Record<string, unknown>, anonymous: boolean): string {
  const any = (ways: unknown) => {
    const all: readonly (readonly string[])[] = Array.isArray(ways) ? ways : []
    // An alternative that requires more than another one is left out.
    const least = all.filter(way => !all.some(other => other.length < way.length && other.every(name => way.includes(name))))
    return least.map(way => way.join(' with ')).join(' or ')
  }
  const needs = [...(requiredScopes ? [`the scope ${any(requiredScopes)}`] : []), ...(requiredPolicies ? [`the policy ${any(requiredPolicies)}`] : [])]
  const what = needs.join(' and ')
  if (anonymous) return what ? `Sign in: this takes ${what}.` : 'Sign in first.'
  return what ? `You may not do this: it takes ${what}.` : 'You may not do this.'
}

/**
 * @param path     path of the value in the graph's input; empty for the input itself
 * @param segments path parameters: an invalid enum value there means that the address does not exist
 */
function checkValue(value: unknown, type: GraphQLInputType, path: string, named: (path: string) => string, segments: ReadonlySet<string>): void {
  const field = named(path)
  const wrong = (what: string, at = field) => new DomainError('BAD_USER_INPUT', `${at} ${what}`, { field: at })
  if (isNonNullType(type)) {
    if (value === undefined) throw wrong('is missing.')
    if (value === null) throw wrong('cannot be null.')
    checkValue(value, type.ofType, path, named, segments)
    return
  }
  if (value === undefined || value === null) return
  if (isListType(type)) {
    const list = Array.isArray(value) ? value : [value]
    for (const [index, item] of list.entries()) checkValue(item, type.ofType, Array.isArray(value) ? `${path}[${index}]` : path, named, segments)
  } else if (isInputObjectType(type)) {
    const fields = type.getFields()
    const known = Object.keys(fields).map(innerName).join(', ')
    if (!isRecord(value)) throw wrong(`must be an object with ${known}.`)
    const below = (name: string) => (path === '' ? name : `${path}.${name}`)
    for (const name of Object.keys(value))
      if (!Object.hasOwn(fields, name))
        throw new DomainError('BAD_USER_INPUT', `There is no field "${named(below(name)).slice(0, 80)}" here: known are ${known}.`, {
          field: named(below(name)).slice(0, 80),
        })
    for (const [name, inner] of Object.entries(fields)) {
      const given = value[name]
      if (given !== undefined || isRequiredInputField(inner)) checkValue(given, inner.type, below(name), named, segments)
    }
  } else if (isEnumType(type)) {
    const takes = type.getValues().map(({ name }) => fromEnum(name))
    if (typeof value !== 'string') throw wrong(`must be one of ${takes.join(', ')}.`)
    if (type.getValue(value)) return
    const what = `is "${fromEnum(value).slice(0, 80)}": it takes ${takes.join(', ')}.`
    throw segments.has(field) ? new DomainError('NOT_FOUND', `${field} ${what}`, { field }) : wrong(what)
  } else if (isScalarType(type)) {
    // The client schema has names of our scalars alone; what they take stands beside the subgraphs.
    const scalar = Object.hasOwn(scalars, type.name) ? scalars[type.name as keyof typeof scalars] : type
    try {
      scalar.parseValue(value)
    } catch {
      throw wrong(Object.hasOwn(forms, type.name) ? `must be ${forms[type.name]}.` : 'does not have the form that it must have.')
    }
  }
}
