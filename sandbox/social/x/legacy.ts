import type { Vendor } from '../../network.ts'
import { json } from '../../network.ts'

/** X at its earlier address, which still tells whose account a token is for, and nothing else that is played here. */
export const xLegacy: Vendor = {
  title: 'X at its earlier address',
  play: (name, { other }) => ({
    name,
    received: () => [],
    answer: call =>
      call.method === 'GET' && call.path === '/2/users/me'
        ? other('x')!.answer({ ...call, via: name })
        : json(404, { title: 'Not Found', status: 404, type: 'about:blank', detail: 'Not Found' }, 'refused'),
  }),
}
