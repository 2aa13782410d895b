import { createHash } from 'node:crypto'

/** A stand-in model's answer; each word counts as one token. */
export interface Said {
  /** Words of the answer; concatenated, they are the text. */
  readonly words: readonly string[]
  /** Why the answer ended. */
  readonly end: 'said' | 'maximum' | 'stop'
  /** The stop sequence that ended the answer; null when none did. */
  readonly stop: string | null
}

/** Splits a text into words with their leading blanks, so that concatenating them restores the text. */
export const wordsOf = (text: string): readonly string[] => text.match(/\s*\S+\s*$|\s*\S+/g) ?? []

/** @param most maximum number of words; null: unlimited */
export function say(text: string, most: number | null, stops: readonly string[] = []): Said {
  const [first] = stops.flatMap(stop => (stop && text.includes(stop) ? [{ stop, at: text.indexOf(stop) }] : [])).sort((a, b) => a.at - b.at)
  const words = wordsOf(first ? text.slice(0, first.at) : text)
  if (most !== null && words.length > most) return { words: words.slice(0, most), end: 'maximum', stop: null }
  return first ? { words, end: 'stop', stop: first.stop } : { words, end: 'said', stop: null }
}

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

const formats: Readonly<Record<string, string>> = {
  'date-time': '2030-01-01T00:00:00Z',
  date: '2030-01-01',
  time: '00:00:00Z',
  email: 'echo@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  uri: 'https://example.com/echo',
  uuid: '00000000-0000-7000-8000-000000000000',
}

/**
 * Returns a minimal value that satisfies a JSON schema, with the message as its strings. @param root schema in which
 * `$ref` is resolved
 */
export function instanceOf(schema: unknown, message: string, root: unknown = schema, depth = 0): unknown {
  if (!isSchema(schema) || depth > 30) return message
  if (typeof schema.$ref === 'string') return instanceOf(resolve(root, schema.$ref), message, root, depth + 1)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema
    return instanceOf(Object.assign({}, ...allOf, rest), message, root, depth + 1)
  }
  const [choice] = [schema.anyOf, schema.oneOf].find(Array.isArray) ?? []
  if (choice !== undefined) return instanceOf(choice, message, root, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : (schema.type ?? (isSchema(schema.properties) ? 'object' : 'string'))
  const inner = (part: unknown): unknown => instanceOf(part, message, root, depth + 1)
  switch (type) {
    case 'object': {
      const properties = isSchema(schema.properties) ? schema.properties : {}
      const required = Array.isArray(schema.required) ? (schema.required as string[]) : []
      return Object.fromEntries(required.map(name => [name, inner(properties[name])]))
    }
    case 'array':
      return Array.from({ length: numberIn(schema.minItems) ?? 0 }, () => inner(schema.items))
    case 'number':
    case 'integer':
      return smallestNumber(schema)
    case 'boolean':
      return false
    case 'null':
      return null
    default: {
      const text = formats[String(schema.format)] ?? message
      return text.padEnd(numberIn(schema.minLength) ?? 0, '.').slice(0, numberIn(schema.maxLength))
    }
  }
}

function smallestNumber(schema: Schema): number {
  const step = numberIn(schema.multipleOf) ?? 1
  const above = numberIn(schema.exclusiveMinimum)
  const least = above === undefined ? (numberIn(schema.minimum) ?? 0) : above + step
  const most = numberIn(schema.maximum)
  return most !== undefined && most < least ? most : Math.ceil(least / step) * step
}

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** Resolves a reference such as `#/$defs/step`. */
const resolve = (root: unknown, reference: string): unknown =>
  reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter(part => part !== '')
    .reduce<unknown>((at, part) => (isSchema(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined), root)

/** Returns the text of a message's content, which is a string or a list of parts; only text parts count. */
export const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.flatMap(part => (isSchema(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n')
      : ''

/** Returns the user's last message. */
export const lastUserText = (messages: readonly { readonly role?: unknown; readonly content?: unknown }[]): string =>
  textIn(messages.findLast(({ role }) => role === 'user')?.content)

/** A call of a tool that a message asks for. */
export interface AskedCall {
  readonly name: string
  readonly input: unknown
}

/**
 * Reads the calls that a message asks for: `call create_note {"text":"Hi"} and call read_notes, then call create_note`. What stands behind a
 * `then` follows once the calls before it are answered; without an object the arguments are a minimal instance of the tool's schema.
 * @param tools the schemas of the tools that are offered, by their names; others are not called
 * @param round how often tools were called for this message
 */
export function askedCalls(text: string, tools: ReadonlyMap<string, unknown>, round: number): readonly AskedCall[] {
  const parts: AskedCall[][] = [[]]
  const words = /\bthen\b|\bcall ([\w-]+)/g
  for (let found = words.exec(text); found; found = words.exec(text)) {
    const name = found[1]
    if (name === undefined) parts.push([])
    else if (tools.has(name)) {
      const given = objectAt(text, words.lastIndex)
      parts.at(-1)!.push({ name, input: given ? given.value : instanceOf(tools.get(name), text) })
      if (given) words.lastIndex = given.end
    }
  }
  return parts.filter(calls => calls.length > 0)[round] ?? []
}

/** Returns the JSON object that begins at a place, blanks before it left out; null where none begins. */
function objectAt(text: string, from: number): { readonly value: unknown; readonly end: number } | null {
  const start = text.slice(from).search(/\S/) + from
  if (text[start] !== '{') return null
  for (let end = text.indexOf('}', start) + 1; end > 0; end = text.indexOf('}', end) + 1)
    try {
      return { value: JSON.parse(text.slice(start, end)), end }
    } catch {
      // A longer piece may be one.
    }
  return null
}

const hourMs = 3_600_000

/**
 * Returns the trends that the stand-in model reports: three plain topics, one current topic whose summary names an
 * earlier year, and one entry without a topic, because real models sometimes violate the requested schema.
 */
export function trendsAt(now: Date): readonly object[] {
  const seen = (hoursAgo: number) => new Date(now.getTime() - hoursAgo * hourMs).toISOString()
  const trend = (topic: string, summary: string, hoursAgo: number, score: number) => ({
    topic,
    summary,
    source: 'Echo News',
    url: 'https://example.com/echo',
    score,
    observedAt: seen(hoursAgo),
  })
  return [
    trend('Slow mornings', 'People show how they begin a day without a screen.', 2, 0.9),
    trend('Repair cafés', 'Neighbours mend things together instead of buying new ones.', 5, 0.7),
    trend('Small gardens', 'Balconies become gardens, and the harvest is shown.', 8, 0.6),
    trend('Ten years on', `Many look back at ${now.getUTCFullYear() - 10} and show what became of it since.`, 3, 0.5),
    { summary: 'Something without a name.', source: null, url: null, score: 0.4, observedAt: seen(1) },
  ]
}

/** Words that say nothing of what a text is about. */
const idle = new Set(
  'a about an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its me my no not of on or our she should so than that the their them then there they this to was we were what when where which who why will with would you your'.split(
    ' ',
  ),
)

/** Endings that forms of one word differ in, the longest first. */
const endings = ['ingly', 'edly', 'ness', 'ing', 'ied', 'ies', 'est', 'ed', 'es', 'ly', 'er', 's', 'e', 'y']

/** A word without its ending, so that most forms of an English word are one. */
export function stemOf(word: string): string {
  let stem = word
  for (;;) {
    const ending = endings.find(each => stem.endsWith(each) && stem.length - each.length >= 3)
    if (ending === undefined) break
    stem = stem.slice(0, -ending.length)
  }
  return /([^aeiou])\1$/.test(stem) ? stem.slice(0, -1) : stem
}

/** The stems of the words that a text is about; of a text without such words, all its words. */
export function stemsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const telling = words.filter(word => !idle.has(word))
  return telling.length > 0 ? telling.map(stemOf) : words.length > 0 ? words : [text]
}

/** Directions of stems that were asked for; the oldest are forgotten. */
const directions = new Map<string, Float32Array>()
const maxDirections = 5_000

/** The direction that stands for a stem: any two are nearly at right angles. */
function directionOf(stem: string, dimensions: number): Float32Array {
  const known = directions.get(stem)
  if (known) return known
  const bytes = createHash('shake256', { outputLength: dimensions * 2 })
    .update(stem)
    .digest()
  const direction = Float32Array.from({ length: dimensions }, (_, at) => bytes.readInt16LE(at * 2) / 32_768)
  if (directions.size >= maxDirections) directions.delete(directions.keys().next().value!)
  directions.set(stem, direction)
  return direction
}

const full = 1_536

/**
 * Returns a vector of length 1: the sum of the directions of a text's stems, so that texts which share words are near
 * to each other. Words of one meaning are as far apart as any others: a stand-in understands nothing.
 * @param dimensions the first ones of 1,536, as at the vendor
 */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const counts = new Map<string, number>()
  for (const stem of stemsOf(text)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const sum = new Float64Array(dimensions)
  for (const [stem, count] of counts) {
    const direction = directionOf(stem, full)
    const weight = 1 + Math.log(count)
    for (let at = 0; at < dimensions; at += 1) sum[at]! += weight * direction[at]!
  }
  const length = Math.hypot(...sum) || 1
  return Float32Array.from(sum, value => value / length)
}
