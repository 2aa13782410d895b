import type { Row } from '../row.ts'

const row = {
  kind: 'forward',
  path: '/setup',
  access: { public: 'Nobody has an account yet; the code in the link, single use, says that the caller operates the platform.' },
  limit: 16 * 1024,
  to: 'identity',
  why: 'page',
} as const

export const setupRows: readonly Row[] = [
  { ...row, method: 'GET' },
  { ...row, method: 'POST' },
]
