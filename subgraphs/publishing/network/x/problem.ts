import type { OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import { readJson } from '../wire/json.ts'

/** X's error format (RFC 7807 with additions): https://docs.x.com/x-api/fundamentals/response-codes-and-errors */
interface Problem {
  readonly title: string
  readonly detail: string
  readonly errors: readonly { readonly message?: string }[]
}

/** Returns X's error message. */
export function saidBy(answer: OutboundAnswer): string {
  const { title, detail, errors } = readJson<Problem>(answer.text)
  return (detail ?? errors?.[0]?.message ?? title ?? `status ${answer.status}`).slice(0, 300)
}
