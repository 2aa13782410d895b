import type { SpanFacts } from '../caller/trace.ts'

/** Verb and table of a statement, for its span; never a value. */
interface Summary {
  readonly operation: string
  /** Schema, which belongs to one subgraph, and table. */
  readonly schema?: string | undefined
  readonly table?: string | undefined
}

/**
 * Maximum number of cached summaries: stores keep few statements forever, and texts built on demand are not worth more.
 */
const mostKnown = 1_000
const known = new Map<string, Summary>()

function summaryOf(text: string): Summary {
  const present = known.get(text)
  if (present) return present
  const bare = text.replaceAll(/\/\*[\s\S]*?\*\/|--[^\n]*/g, ' ')
  const outer = withoutBrackets(bare)
  // The operation of a `with` statement is that of the part after the brackets.
  const [verb = 'SQL'] = /\b(?:select|insert|update|delete|merge)\b/i.exec(outer) ?? /\w+/.exec(outer) ?? []
  // Tables are always qualified with their schema; a name without one is a part of the statement itself.
  const [, schema, table] = qualified.exec(outer) ?? qualified.exec(bare) ?? []
  const summary = { operation: verb.toUpperCase(), schema, table }
  if (known.size < mostKnown) known.set(text, summary)
  return summary
}

const qualified = /\b(?:from|into|update|join)\s+(?:only\s+)?(\w+)\.(\w+)/i

function withoutBrackets(text: string): string {
  let depth = 0
  let outer = ''
  for (const character of text) {
    if (character === '(') depth += 1
    if (depth === 0) outer += character
    if (character === ')') depth -= 1
  }
  return outer
}

/** Returns the name of a statement's span, in OpenTelemetry's convention: `SELECT posts`. */
export function nameOfSql(text: string): string {
  const { operation, table } = summaryOf(text)
  return table ? `${operation} ${table}` : operation
}

/** Returns the attributes of a statement's span: its text has placeholders instead of values. */
export function factsOfSql(text: string): SpanFacts {
  const { operation, schema, table } = summaryOf(text)
  return {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    ...(table && { 'db.collection.name': table }),
    ...(schema && { subgraph: schema }),
    'db.query.text': text,
  }
}
