import type { Row } from '../row.ts'

export const credentialRows: readonly Row[] = [
  {
    kind: 'forward',
    method: '*',
    path: '/api/auth/*',
    access: { public: 'Credentials are made, renewed and ended here, so none can be asked for.' },
    limit: 64 * 1024,
    to: 'identity',
    why: 'foreign handler',
  },
]
