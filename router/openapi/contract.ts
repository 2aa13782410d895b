type Json = Readonly<Record<string, unknown>>

/**
 * The parts of an OpenAPI document that clients rely on, without descriptions and examples; changes are compared by
 * them.
 */
export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

const words: ReadonlySet<string> = new Set(['description', 'summary', 'example', 'tags'])

/** Removes from a part of a document the texts for people, and the error answers. */
function bare(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map(each => bare(each))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => (key === 'properties' ? true : key === 'responses' ? /^2/.test(name) : !words.has(name)))
  return Object.fromEntries(kept.map(([name, inner]) => [name, bare(inner, key === 'properties' ? '' : name)]))
}

/** Writes the contract of a document as JSON with one line for each route, and one for each schema. */
export function contractText({ paths, components: { schemas } }: Contract): string {
  const line = (name: string, value: unknown) => `${JSON.stringify(name)}: ${JSON.stringify(bare(value))}`
  const methods = Object.entries(paths).map(
    ([path, operations]) =>
      `${JSON.stringify(path)}: {\n${Object.entries(operations)
        .map(([method, operation]) => line(method, operation))
        .join(',\n')}\n}`,
  )
  const named = Object.entries(schemas).flatMap(([name, schema]) => (name === 'Problem' ? [] : [line(name, schema)]))
  return `{"paths": {\n${methods.join(',\n')}\n},\n"components": {"schemas": {\n${named.join(',\n')}\n}}}\n`
}
