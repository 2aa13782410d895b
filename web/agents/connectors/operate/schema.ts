/** A field of a form, made from a property of a JSON Schema. What no simple field can hold is written as JSON. */
export interface SchemaField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  readonly title: string
  readonly hint: string | null
  readonly choices: readonly string[]
  readonly isRequired: boolean
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The fields of a tool's arguments, in the order of its schema. */
export function fieldsOf(schema: unknown): readonly SchemaField[] {
  const { properties, required } = objectOf(schema)
  const needed = Array.isArray(required) ? required : []
  return Object.entries(objectOf(properties)).map(([name, property]): SchemaField => {
    const { type, title, description, enum: values } = objectOf(property)
    const choices = Array.isArray(values) ? values.filter(each => typeof each === 'string') : []
    const isChoice = choices.length > 0 && choices.length === (values as readonly unknown[]).length
    const kind = isChoice ? 'choice' : type === 'string' ? 'text' : type === 'number' || type === 'integer' ? 'number' : type === 'boolean' ? 'boolean' : 'json'
    return { name, kind, title: textOf(title) ?? name, hint: textOf(description), choices, isRequired: needed.includes(name) }
  })
}

/** The arguments that were typed, without fields left empty; or the names of fields that hold nothing of their kind. */
export function argumentsOf(
  fields: readonly SchemaField[],
  typed: Readonly<Record<string, string>>,
): { readonly arguments: Record<string, unknown>; readonly wrong: ReadonlySet<string> } {
  const wrong = new Set<string>()
  const read = ({ kind, name }: SchemaField, text: string): unknown => {
    if (kind === 'text' || kind === 'choice') return text
    if (kind === 'boolean') return text === 'true'
    try {
      const value: unknown = JSON.parse(text)
      if (kind === 'json' || typeof value === 'number') return value
    } catch {
      // Told at the field below.
    }
    wrong.add(name)
    return undefined
  }
  const entries = fields.flatMap(field => {
    const text = typed[field.name] ?? ''
    if (text.trim() === '') {
      if (field.isRequired && field.kind !== 'boolean') wrong.add(field.name)
      return field.isRequired && field.kind === 'boolean' ? [[field.name, false] as const] : []
    }
    return [[field.name, read(field, text)] as const]
  })
  return { arguments: Object.fromEntries(entries), wrong }
}
