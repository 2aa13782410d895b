import type { Handlers } from '../../../http/handlers.ts'
import type { At } from '../../context.ts'

/** Routes of push messages: the public key that browsers subscribe with. */
export const pushHandlers = ({ services: { push } }: At): Handlers => ({
  'GET /launcher/api/push/key': async () =>
    new Response(JSON.stringify({ publicKey: await push.vapid.publicKey() }), {
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' },
    }),
})
