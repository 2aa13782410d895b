import { invalid } from './problems.ts'

/** A body of `application/x-www-form-urlencoded` with names such as `items[0][price]`, as a tree; lists are trees with numbers for names. */
interface Tree {
  [name: string]: string | Tree
}

const mostNames = 1000
const mostDeep = 10

/** Reads one body or query, part by part. What nobody has read at the end is a parameter that the address does not know. */
export interface Form {
  /** Undefined where it is absent; null where it is empty, which takes a value away. */
  text(name: string): string | null | undefined
  /** @throws 400 parameter_missing */
  need(name: string): string
  whole(name: string, least?: number): number | undefined
  flag(name: string): boolean | undefined
  oneOf<const Value extends string>(name: string, values: readonly Value[]): Value | undefined
  part(name: string): Form | undefined
  parts(name: string): readonly Form[]
  texts(name: string): readonly string[]
  /** Names with texts, as `metadata` has them. */
  names(name: string): Readonly<Record<string, string>> | undefined
  /** Names that are taken and do nothing here. */
  pass(...names: string[]): void
  /** Where it stands: `items[0][price]`. */
  at(name: string): string
  /** @throws 400 parameter_unknown */
  end(): void
}

/** Reads the text of a body or a query. */
export const readForm = (text: string): Form => formOf(treeOf(new URLSearchParams(text)), '')

function treeOf(pairs: URLSearchParams): Tree {
  const tree: Tree = Object.create(null)
  let count = 0
  for (const [name, value] of pairs) {
    const [, first, rest] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? []
    const path = first === undefined ? null : [first, ...[...rest!.matchAll(/\[([^[\]]*)\]/g)].map(match => match[1]!)]
    count += 1
    if (!path || path.length > mostDeep || count > mostNames) throw invalid(`Invalid parameter name: ${name}`, name)
    put(tree, path, value)
  }
  return tree
}

/** `[]` is the next of a list. */
function put(tree: Tree, [name, ...rest]: readonly string[], value: string): void {
  const key = name || String(Object.keys(tree).length)
  if (rest.length === 0) {
    tree[key] = value
    return
  }
  const known = tree[key]
  const below: Tree = typeof known === 'object' ? known : Object.create(null)
  tree[key] = below
  put(below, rest, value)
}

function formOf(tree: Tree, path: string): Form {
  const read = new Map<string, Form[]>()
  const at = (name: string): string => (path ? `${path}[${name}]` : name)
  const take = (name: string): string | Tree | undefined => {
    if (!read.has(name)) read.set(name, [])
    return tree[name]
  }
  const leaf = (name: string): string | undefined => {
    const value = take(name)
    if (typeof value === 'object') throw invalid('Invalid string: {...}', at(name))
    return value
  }
  const branch = (name: string): Tree | undefined => {
    const value = take(name)
    if (typeof value === 'string' && value !== '') throw invalid('Invalid object', at(name))
    return value === '' ? undefined : (value as Tree | undefined)
  }
  const below = (name: string, inner: Tree, step: string): Form => {
    const form = formOf(inner, step)
    read.get(name)!.push(form)
    return form
  }
  const list = (name: string): readonly (readonly [string, string | Tree])[] =>
    Object.entries(branch(name) ?? {}).sort(([one], [other]) => Number(one) - Number(other))
  return {
    at,
    text(name) {
      const value = leaf(name)
      return value === '' ? null : value
    },
    need(name) {
      const value = leaf(name)
      if (!value) throw invalid(`Missing required param: ${at(name)}.`, at(name), 'parameter_missing')
      return value
    },
    whole(name, least = 0) {
      const value = leaf(name)
      if (value === undefined || value === '') return undefined
      if (!/^-?\d{1,15}$/.test(value)) throw invalid(`Invalid integer: ${value}`, at(name), 'parameter_invalid_integer')
      if (Number(value) < least)
        throw invalid(
          least === 1 ? 'This value must be greater than or equal to 1.' : `Invalid non-negative integer: ${value}`,
          at(name),
          'parameter_invalid_integer',
        )
      return Number(value)
    },
    flag(name) {
      const value = leaf(name)
      if (value === undefined) return undefined
      if (value !== 'true' && value !== 'false') throw invalid(`Invalid boolean: ${value}`, at(name))
      return value === 'true'
    },
    oneOf(name, values) {
      const value = leaf(name)
      if (value === undefined) return undefined
      const found = values.find(each => each === value)
      if (!found) throw invalid(`Invalid ${at(name)}: must be one of ${values.join(', ')}`, at(name))
      return found
    },
    part(name) {
      const inner = branch(name)
      return inner && below(name, inner, at(name))
    },
    parts: name =>
      list(name).map(([key, inner]) => {
        if (typeof inner === 'string') throw invalid('Invalid object', `${at(name)}[${key}]`)
        return below(name, inner, `${at(name)}[${key}]`)
      }),
    texts: name => list(name).map(([, value]) => (typeof value === 'string' ? value : '')),
    names(name) {
      const inner = branch(name)
      if (!inner) return undefined
      const entries = Object.entries(inner)
      if (entries.length > 50) throw invalid('Metadata can have up to 50 keys.', at(name))
      for (const [key, value] of entries) {
        if (typeof value !== 'string') throw invalid('Metadata values must be strings.', `${at(name)}[${key}]`)
        if (key.length > 40) throw invalid(`Metadata keys can have up to 40 characters, but you passed in a key that is ${key.length} characters.`, at(name))
        if (value.length > 500)
          throw invalid(`Metadata values can have up to 500 characters, but you passed in a value that is ${value.length} characters.`, at(name))
      }
      return Object.fromEntries(entries.filter(([, value]) => value !== '')) as Record<string, string>
    },
    pass(...names) {
      for (const name of names) take(name)
    },
    end() {
      const unknown = Object.keys(tree).find(name => !read.has(name))
      if (unknown !== undefined) throw invalid(`Received unknown parameter: ${at(unknown)}`, at(unknown), 'parameter_unknown')
      for (const forms of read.values()) for (const form of forms) form.end()
    },
  }
}
