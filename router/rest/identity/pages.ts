import type { Row } from '../row.ts'

const page = { kind: 'forward', limit: 16 * 1024, to: 'identity', why: 'page' } as const

const setup = {
  ...page,
  path: '/setup',
  access: { public: 'Nobody has signed in yet; the code in the link says that the caller operates the platform.' },
} as const

const login = { ...page, path: '/login', access: { public: 'Whoever signs in here has no credentials yet.' } } as const

/** The pages that identity shows to people. */
export const pageRows: readonly Row[] = [
  { ...setup, method: 'GET' },
  { ...setup, method: 'POST' },
  { ...login, method: 'GET' },
  { ...login, method: 'POST' },
]
