import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { PriceIds } from '../../registration.ts'

const id = z.string().regex(/^[A-Za-z\d][A-Za-z\d_-]{0,254}$/, 'is no id of a price, such as price_1AbC')
const bundle = z.strictObject({ month: id.optional(), year: id.optional() }).optional()
const form = z.strictObject({
  three: bundle,
  five: bundle,
  ten: bundle,
  everything: bundle,
  free_workspace: z.strictObject({ year: id.optional() }).optional(),
})

/**
 * Reads a file of prices: `{"three":{"month":"price_…","year":"price_…"},"free_workspace":{"year":"price_…"}}`.
 * @throws Error with a sentence to follow the setting's name
 */
export function readPriceIds(file: string): PriceIds {
  const read = form.safeParse(parsed(file))
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`${file}: ${[...issue!.path].join('.') || 'the file'} ${sentenceOf(issue!)}`)
  }
  const upper = <Value>(values: Readonly<Record<string, Value>>) => Object.entries(values).map(([name, value]) => [name.toUpperCase(), value] as const)
  const ids = Object.fromEntries(upper(read.data).map(([name, intervals]) => [name, Object.fromEntries(upper(intervals ?? {}))])) as PriceIds
  const listed = Object.values(ids).flatMap(intervals => Object.values(intervals ?? {}))
  const twice = listed.find((each, at) => listed.indexOf(each) !== at)
  if (twice) throw new Error(`${file}: ${twice} is the price of two packages or intervals: give each its own`)
  return ids
}

function parsed(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}): name a file of JSON`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is no JSON`)
  }
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys')
    return `has ${issue.keys.join(', ')}: packages are three, five, ten, everything and free_workspace, intervals month and year, of free_workspace year alone`
  return issue.code === 'invalid_type' ? `is no ${issue.expected === 'string' ? 'text' : 'object'}` : issue.message
}
