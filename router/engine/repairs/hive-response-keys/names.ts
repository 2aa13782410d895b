import { type FieldNode, Kind, print, type ValueNode } from 'graphql'
import type { Names } from '../../operation/names.ts'
import type { Supergraph } from '../../supergraph.ts'

/**
 * Gives every client alias a private name made from alias, field and arguments. A planner that sees the client's own
 * aliases confuses them with key fields of the same name and returns wrong data silently. Fields with arguments get a
 * private name too, so that a value that `@requires` selects with other arguments never has the same key.
 */
export function createNames(supergraph: Supergraph): Names {
  const keys = new Map<string, string>()
  const clientKeys = new Map<string, string>()
  let count = 0
  const privateKey = (identity: string, clientKey: string) => {
    const known = keys.get(identity)
    if (known !== undefined) return known
    let key: string
    do key = `_p${count++}`
    while (supergraph.fieldNames.has(key))
    keys.set(identity, key)
    clientKeys.set(key, clientKey)
    return key
  }
  return {
    clientKeys,
    keyOf(node, parent) {
      const name = node.name.value
      // The planner finds runtime types under this very name; the client's alias is written at the end.
      if (name === '__typename') return name
      const alias = node.alias && node.alias.value !== name ? node.alias.value : ''
      const given = canonicalArguments(node)
      const coordinate = `${parent}.${name}`
      const takesArguments = supergraph.withArguments.has(coordinate)
      // Under another name the planner does not fetch the key of an interface that only one subgraph knows the types of.
      if (supergraph.interfaceKeys.has(coordinate) && !takesArguments) return name
      if (alias !== '' || takesArguments || name in Object.prototype) return privateKey(`${alias} ${name} ${given}`, alias || name)
      return name
    },
  }
}

/** Writes arguments as text in a fixed order: `f(a: 1, b: 2)` and `f(b: 2, a: 1)` are the same field to GraphQL. */
const canonicalArguments = (node: FieldNode) =>
  (node.arguments ?? [])
    .map(argument => `${argument.name.value}:${canonical(argument.value)}`)
    .sort()
    .join()

function canonical(value: ValueNode): string {
  if (value.kind === Kind.LIST) return `[${value.values.map(canonical).join()}]`
  if (value.kind === Kind.OBJECT) {
    return `{${value.fields
      .map(field => `${field.name.value}:${canonical(field.value)}`)
      .sort()
      .join()}}`
  }
  return print(value)
}
