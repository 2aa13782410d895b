import { type GraphQLInputType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { isRecord, toBoolean, toEnum, toInteger } from '../values.ts'
import { innerName } from '../words.ts'

/**
 * Converts a value of a path or query string to a variable's type; a list is separated by commas. A value that does not
 * fit stays text and is rejected later with a message.
 */
export function fromText(text: string | undefined, type: GraphQLInputType): unknown {
  if (text === undefined) return undefined
  if (isNonNullType(type)) return fromText(text, type.ofType)
  if (isListType(type)) return text.split(',').map(each => fromText(each, type.ofType))
  if (isEnumType(type)) return toEnum(text)
  if (isInputObjectType(type)) return text
  return type.name === 'Int' ? toInteger(text) : type.name === 'Boolean' ? toBoolean(text) : text
}

/** Converts a value of a body to a variable's type: enum values to upper case, fields to their names in the graph. */
export function fromJson(value: unknown, type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return fromJson(value, type.ofType)
  if (isListType(type)) return Array.isArray(value) ? value.map(each => fromJson(each, type.ofType)) : fromJson(value, type.ofType)
  if (isEnumType(type)) return toEnum(value)
  if (!isInputObjectType(type) || !isRecord(value)) return value
  const fields = type.getFields()
  const byRouteName = new Map(Object.values(fields).map(field => [innerName(field.name), field]))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = byRouteName.get(name)
      return field ? [field.name, fromJson(inner, field.type)] : [name, inner]
    }),
  )
}

/** Returns the value at a path of names and numbers, `images.0.brandId`; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const step of path.split('.')) found = Array.isArray(found) ? found[Number(step)] : isRecord(found) ? found[step] : undefined
  return found
}
