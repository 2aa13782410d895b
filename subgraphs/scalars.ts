import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'
import { GraphQLDateTime, GraphQLEmailAddress, GraphQLJSON, GraphQLURL } from 'graphql-scalars'
import { isMailAddress, mailAddressSentence } from '../platform/smtp/mail-address.ts'
import { isCurrency } from './currencies.ts'

/** A moment; resolvers give and take `Date`. The answer is text in either mode, so that a call and HTTP agree. */
const DateTime = new GraphQLScalarType({
  ...GraphQLDateTime.toConfig(),
  description: null,
  serialize: value => new Date(GraphQLDateTime.serialize(value) as Date).toISOString(),
})

/** Resolvers take `URL` and give `URL` or text. */
const Address = new GraphQLScalarType({ ...GraphQLURL.toConfig(), description: null })

/**
 * A mail address of RFC 5321 or 6531, or what a browser takes for one: a resolver that writes there refuses it with its `field`. What is
 * answered was checked when it was taken.
 */
const EmailAddress = new GraphQLScalarType<string, string>({
  name: 'EmailAddress',
  serialize: String,
  parseValue: toMailAddress,
  parseLiteral: node => {
    if (node.kind !== Kind.STRING) throw new GraphQLError(`EmailAddress takes text ${mailAddressSentence}.`, { nodes: node })
    return toMailAddress(node.value)
  },
})

function toMailAddress(value: unknown): string {
  if (isMailAddress(value)) return value
  if (typeof value === 'string') return GraphQLEmailAddress.parseValue(value) as string
  throw new GraphQLError(`EmailAddress takes an address ${mailAddressSentence}.`)
}

/**
 * A whole number; resolvers take `bigint` and give `bigint`, a whole `number` or digits. The answer is a JSON number when
 * JavaScript can hold it exactly, else text: `JSON.stringify` knows no bigint.
 */
const WholeNumber = new GraphQLScalarType<bigint, number | string>({
  name: 'BigInt',
  serialize: value => {
    const whole = toWhole(value)
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole.toString()
  },
  parseValue: toWhole,
  parseLiteral: node => {
    if (node.kind !== Kind.INT && node.kind !== Kind.STRING) throw new GraphQLError('BigInt takes a whole number.', { nodes: node })
    return toWhole(node.value)
  },
})

function toWhole(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^-?\d{1,38}$/.test(value)) return BigInt(value)
  throw new GraphQLError('BigInt takes a whole number; beyond 9007199254740991 write it as text.')
}

/** A currency by its code of ISO 4217, in capitals. */
const CurrencyCode = new GraphQLScalarType<string, string>({
  name: 'CurrencyCode',
  serialize: toCurrency,
  parseValue: toCurrency,
  parseLiteral: node => {
    if (node.kind !== Kind.STRING) throw new GraphQLError('CurrencyCode takes a code of ISO 4217 as text, such as "EUR".', { nodes: node })
    return toCurrency(node.value)
  },
})

function toCurrency(value: unknown): string {
  if (typeof value === 'string' && isCurrency(value)) return value
  throw new GraphQLError('CurrencyCode takes an active code of ISO 4217 in capitals, such as "EUR".')
}

/** Whatever JSON can hold. */
const Json = new GraphQLScalarType({ ...GraphQLJSON.toConfig(), description: null })

/** The resolvers of every scalar in `shared.graphql`: part of each subgraph's resolver map. */
export const scalars = { DateTime, URL: Address, EmailAddress, BigInt: WholeNumber, CurrencyCode, JSON: Json }
