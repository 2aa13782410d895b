import type { Json } from '../../stores/workflow.ts'

/** The key that ends a plan. */
export const endKey = 'end'

/** What a plan, a run and a step may have at most. Times in seconds. */
export const limits = {
  steps: 50,
  depth: 5,
  runningOfOrganization: 100,
  jsonBytes: 65_536,
  keyLength: 60,
  title: 200,
  text: 10_000,
  list: { items: 500, atOnce: { least: 1, most: 20, usual: 5 } },
  timeout: { least: 1, most: 600, usual: 60 },
  retries: { most: 5, usual: 2 },
  delay: { least: 1, most: 30 * 86_400 },
  approval: { least: 2, most: 30 * 86_400, usual: 72 * 3_600, approvers: 20, deciders: 5, decisions: 50 },
  policy: { least: 2, most: 7 * 86_400, usual: 24 * 3_600 },
  runDays: 30,
} as const

/** Whether a value fits into a field of JSON. */
export const fits = (value: Json): boolean => Buffer.byteLength(JSON.stringify(value)) <= limits.jsonBytes
